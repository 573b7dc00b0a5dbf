import { z } from 'zod'
import { unstorable } from '../definition/json'

/** A name that `${secrets.NAME}` can use. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must start with a letter or _ and contain only letters, digits and _')
  .refine((name) => !['__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')

/** Shorter values look like ordinary text, so they could not be masked in results. */
export const MIN_VALUE_LENGTH = 4

export const SetSecret = z.object({
  name: SecretName,
  value: z
    .string()
    .min(MIN_VALUE_LENGTH)
    .max(16_384)
    .refine((text) => unstorable(text) === null, 'must be text without NUL characters and lone surrogates'),
})

/** The place a value is sealed for: copied to another row, it does not open. */
export function vaultPlace(tenantId: string, name: string): string {
  return `${tenantId}:${name}`
}
