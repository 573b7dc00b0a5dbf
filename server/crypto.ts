import { createCipheriv, createDecipheriv, createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { processWide } from '@/db/process-wide'
import { errorCode, secretFile } from '@/lib/secret-file'
import { EnvError, env, parseEncryptionKeys } from './env'

/** The first key encrypts; any of them may decrypt. */
export type Keyring = readonly [Buffer, ...Buffer[]]

const IV_BYTES = 12
const TAG_BYTES = 16
const HEADER_BYTES = 1 + IV_BYTES + TAG_BYTES

/** The sealed text was changed, moved to another place, or sealed with a key that is no longer known. */
export class CannotOpen extends Error {
  override name = 'CannotOpen'
}

/**
 * Encrypts with AES-256-GCM and binds the result to its place: it cannot be decrypted anywhere else.
 * @param place where the text is stored, such as `tenantId:secretId`
 * @returns base64 of a key id byte, the nonce, the tag and the ciphertext
 */
export function seal(text: string, place: string, keys: Keyring = keyring()): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', keys[0], iv)
  cipher.setAAD(Buffer.from(place))
  const body = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(keyId(keys[0])), iv, cipher.getAuthTag(), body]).toString('base64')
}

/** @throws CannotOpen */
export function open(sealed: string, place: string, keys: Keyring = keyring()): string {
  const bytes = Buffer.from(sealed, 'base64')
  if (bytes.length < HEADER_BYTES) throw new CannotOpen('The encrypted text is too short.')
  const iv = bytes.subarray(1, 1 + IV_BYTES)
  const tag = bytes.subarray(1 + IV_BYTES, HEADER_BYTES)
  // The key id is one byte and not unique, so try every key that matches.
  for (const key of keys.filter((candidate) => keyId(candidate) === bytes[0])) {
    const decipher = createDecipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
    decipher.setAAD(Buffer.from(place))
    decipher.setAuthTag(tag)
    try {
      return Buffer.concat([decipher.update(bytes.subarray(HEADER_BYTES)), decipher.final()]).toString('utf8')
    } catch {
      // The tag does not match: another key, another place, or changed bytes.
    }
  }
  throw new CannotOpen('No key decrypts this text: the key, its place or its bytes have changed.')
}

function keyId(key: Buffer): number {
  return createHash('sha256').update(key).digest()[0] ?? 0
}

/**
 * The keys of this installation: ENCRYPTION_KEY, or a key generated once and stored in DATA_DIR.
 * @throws EnvError without either
 */
export function keyring(): Keyring {
  return processWide('keyring', () => readKeyring(env()))
}

export function readKeyring(settings: { ENCRYPTION_KEY?: string | undefined; dataDir: string }): Keyring {
  const [first, ...others] = parse(settings.ENCRYPTION_KEY ?? keptKey(settings.dataDir))
  if (!first) throw new EnvError('ENCRYPTION_KEY must be 32 random bytes in base64 or hex.')
  return [first, ...others]
}

function parse(text: string): Buffer[] {
  return parseEncryptionKeys(text.trim()) ?? []
}

function keptKey(dataDir: string): string {
  const path = join(dataDir, 'encryption.key')
  try {
    return secretFile(path, () => randomBytes(32).toString('base64'))
  } catch (err) {
    throw new EnvError(`ENCRYPTION_KEY is missing, and a generated key cannot be stored in ${path}: ${errorCode(err)}.`)
  }
}
