import { z } from 'zod'
import { component } from '../definition/component'
import { RESERVED_NAMES, SECRET_NAME } from '../definition/secret-name'
import { AppError } from '../errors'
import { STORABLE } from '../query/storable-text'
import { SecretHosts } from './hosts'

/** A name that `${secrets.NAME}` can use. */
export const SecretName = z
  .string()
  .regex(SECRET_NAME, 'must start with a letter or _ and contain only letters, digits and _')
  .refine((name) => !RESERVED_NAMES.includes(name), 'is a reserved name')

/** A shorter value can be guessed: anyone who can have text masked sees which guess becomes `***`. */
const MIN_VALUE_LENGTH = 12

export const SetSecret = component('SetSecret', {
  name: SecretName.describe('For `${secrets.NAME}`.'),
  value: z
    .string()
    .max(16_384)
    .refine(...STORABLE)
    // Pasted and piped values have blanks and line breaks around them, which no header may have.
    .transform((text) => text.trim())
    .refine(
      (text) => !isTooShort(text),
      `must have at least ${MIN_VALUE_LENGTH} characters, spaces around it not counted`,
    )
    .describe('At least 12 characters, spaces around it not counted.'),
  /** If absent, a new secret is unbound and an existing one keeps its hosts. */
  hosts: SecretHosts.optional().describe(
    'Where it may be sent, such as `api.example.com`. Without it, a new secret may be sent anywhere, and an old one keeps its hosts.',
  ),
})

/** Whether a value can be guessed. Spaces around it do not count, because it is masked without them too. */
export function isTooShort(value: string): boolean {
  return value.trim().length < MIN_VALUE_LENGTH
}

/** The context a value is sealed for: a copy in another row cannot be opened. */
export function vaultPlace(tenantId: string, name: string): string {
  return `${tenantId}:${name}`
}

export function noSuchSecret(): AppError {
  return new AppError('NOT_FOUND', { details: [{ path: 'name', message: 'No such secret.' }] })
}

/**
 * Skips the lookup of a name that no secret can have.
 * @throws AppError NOT_FOUND
 */
export function requireName(name: string): void {
  if (!SecretName.safeParse(name).success) throw noSuchSecret()
}
