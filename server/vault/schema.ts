import { z } from 'zod'
import { unstorable } from '../definition/json'

/** What `${secrets.NAME}` can say. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must begin with a letter or _ and have only letters, digits and _')
  .refine((name) => !['__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')

/** Shorter values could not be told from ordinary text, so they could not be kept out of results. */
export const MIN_VALUE_LENGTH = 4

export const SetSecret = z.object({
  name: SecretName,
  value: z
    .string()
    .min(MIN_VALUE_LENGTH)
    .max(16_384)
    .refine((text) => unstorable(text) === null, 'must be text without NUL characters and lone surrogates'),
})

/** The place in which a value is sealed: a row copied over another does not open. */
export function vaultPlace(tenantId: string, name: string): string {
  return `${tenantId}:${name}`
}
