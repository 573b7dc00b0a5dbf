import { z } from 'zod'
import { unstorable } from '../definition/json'
import { SecretHosts } from './hosts'

/** What `${secrets.NAME}` can say. */
export const SecretName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]{0,99}$/, 'must begin with a letter or _ and have only letters, digits and _')
  .refine((name) => !['__proto__', 'prototype', 'constructor'].includes(name), 'is a reserved name')

/** Of a shorter value every guess can be tried: whoever can have texts masked sees which one becomes `***`. */
const MIN_VALUE_LENGTH = 12

export const SetSecret = z.object({
  name: SecretName,
  value: z
    .string()
    .max(16_384)
    .refine((text) => unstorable(text) === null, 'must be text without NUL characters and lone surrogates')
    .refine(
      (text) => !isTooShort(text),
      `must have at least ${MIN_VALUE_LENGTH} characters, spaces around it not counted`,
    ),
  /** Absent: a new secret is not bound, one that is there stays bound as it was. */
  hosts: SecretHosts.optional(),
})

/** Whether a value can be found out by guessing; spaces around it do not count, since it is masked without them too. */
export function isTooShort(value: string): boolean {
  return value.trim().length < MIN_VALUE_LENGTH
}

/** The place in which a value is sealed: a row copied over another does not open. */
export function vaultPlace(tenantId: string, name: string): string {
  return `${tenantId}:${name}`
}
