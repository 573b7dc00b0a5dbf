import { type JWTPayload, jwtVerify } from 'jose'
import { CannotOpen, type Keyring, open } from '../crypto'
import { isJsonObject, type JsonObject, type JsonValue, unstorable } from '../definition/json'
import { parseKeepingDigits } from '../definition/long-numbers'

const MAX_TOKEN_BYTES = 8 * 1024
const MAX_SUBJECT_LENGTH = 256
const MAX_CONTEXT_BYTES = 16 * 1024
const MAX_CONTEXT_DEPTH = 8
const MIN_SECRET_BYTES = 32
/** How far the clocks of two machines may differ, in seconds. */
const SKEW_S = 60
export const MAX_LIFE_S = 24 * 3600
const RECOMMENDED_LIFE_S = 3600

const THREE_PARTS = /^[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/
const KEY_ID = /^[A-Za-z0-9_-]{8,64}$/

/** Why a token was refused: for the log, never for the caller. */
export class TokenRefused extends Error {
  override name = 'TokenRefused'
  constructor(
    reason: string,
    /** True when the fault is not in the token but in our stored secret. */
    readonly alarming = false,
  ) {
    super(reason)
  }
}

/** The stored secret a token refers to. The tenant and the role come only from here. */
interface SecretRecord {
  tenantId: string
  id: string
  sealed: string
  disabledAt: Date | null
  /** Set once it was replaced. */
  graceUntil: Date | null
}

interface VerifiedToken<S extends SecretRecord> {
  secret: S
  /** The end user. */
  sub: string
  /** Deeply frozen. */
  context: JsonObject | null
  /** Whether it is valid for longer than recommended. */
  longLived: boolean
  /** The token is refused from then on. */
  goodUntil: Date
}

/** The place a secret is sealed for: copied to another row, it does not open. */
export function secretPlace(tenantId: string, id: string): string {
  return `${tenantId}:${id}`
}

/**
 * Checks a token completely. Errors from `find` pass through.
 * @throws TokenRefused
 */
export async function verifyToken<S extends SecretRecord>(
  token: string,
  options: { audience: string; now: Date; find: (keyId: string) => Promise<S | undefined>; keys?: Keyring },
): Promise<VerifiedToken<S>> {
  const keyId = keyIdOf(token)
  const secret = await options.find(keyId)
  if (!secret || secret.id !== keyId) throw new TokenRefused('unknown secret')
  if (secret.disabledAt) throw new TokenRefused('disabled secret')
  if (secret.graceUntil && secret.graceUntil <= options.now) throw new TokenRefused('replaced secret')
  const payload = await checkSignature(token, openSecret(secret, options.keys), options)
  const now = options.now.getTime() / 1000
  const { life, goodUntil } = checkTimes(payload, now)
  const longLived = life > RECOMMENDED_LIFE_S
  return { secret, sub: readSubject(payload), context: readContext(payload, token), longLived, goodUntil }
}

/** The id of the secret: `kid` in the protected header, or `keyid` in a handmade token. */
function keyIdOf(token: string): string {
  if (token.length > MAX_TOKEN_BYTES) throw new TokenRefused('too long')
  if (!THREE_PARTS.test(token)) throw new TokenRefused('not three parts')
  const parts = token.split('.')
  // Otherwise several texts would decode to the same bytes.
  if (parts.some((part) => Buffer.from(part, 'base64url').toString('base64url') !== part)) {
    throw new TokenRefused('not canonical base64url')
  }
  const [header, payload] = parts.slice(0, 2).map(readTokenPart)
  if (!header || !payload) throw new TokenRefused('not a JSON object')
  if (header.alg !== 'HS256') throw new TokenRefused('algorithm')
  if ('crit' in header || 'b64' in header) throw new TokenRefused('header extension')
  const named = [header.kid, header.keyid, payload.keyid].filter((value) => value !== undefined)
  const [keyId] = named
  if (typeof keyId !== 'string' || !KEY_ID.test(keyId)) throw new TokenRefused('no key id')
  if (named.some((value) => value !== keyId)) throw new TokenRefused('key ids disagree')
  return keyId
}

/** Decodes one part of a token as a JSON object; null if it is none. */
export function readTokenPart(part: string): JsonObject | null {
  try {
    const value = parseKeepingDigits(Buffer.from(part, 'base64url').toString('utf8'))
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}

function openSecret(secret: SecretRecord, keys: Keyring | undefined): Buffer {
  try {
    const bytes = Buffer.from(open(secret.sealed, secretPlace(secret.tenantId, secret.id), keys))
    if (bytes.length < MIN_SECRET_BYTES) throw new TokenRefused('short secret', true)
    return bytes
  } catch (err) {
    if (err instanceof CannotOpen) throw new TokenRefused('the secret does not open', true)
    throw err
  }
}

async function checkSignature(
  token: string,
  secret: Buffer,
  { audience, now }: { audience: string; now: Date },
): Promise<JWTPayload> {
  try {
    const { payload } = await jwtVerify(token, secret, {
      algorithms: ['HS256'],
      audience,
      clockTolerance: SKEW_S,
      currentDate: now,
      requiredClaims: ['sub', 'exp', 'aud'],
    })
    return payload
  } catch (err) {
    throw new TokenRefused(reasonOf(err))
  }
}

/** The library's error code and the claim it concerns. */
function reasonOf(err: unknown): string {
  if (!(err instanceof Error && 'code' in err)) return 'not verified'
  return 'claim' in err ? `${err.code} ${err.claim}` : String(err.code)
}

/**
 * Checks that the library omits: how long a token is valid, and that it was not issued in the future.
 * @returns its lifetime in seconds, and its end
 */
function checkTimes(payload: JWTPayload, now: number): { life: number; goodUntil: Date } {
  const { exp, iat, aud } = payload
  if (typeof exp !== 'number' || !Number.isFinite(exp)) throw new TokenRefused('exp')
  if (Array.isArray(aud) && aud.some((name) => typeof name !== 'string')) throw new TokenRefused('aud')
  if (iat !== undefined && (typeof iat !== 'number' || !Number.isFinite(iat) || iat > now + SKEW_S)) {
    throw new TokenRefused('iat')
  }
  const life = exp - (iat ?? now)
  if (life > MAX_LIFE_S) throw new TokenRefused('lives too long')
  return { life, goodUntil: new Date((exp + SKEW_S) * 1000) }
}

function readSubject({ sub }: JWTPayload): string {
  if (typeof sub !== 'string' || sub.trim() === '' || sub.length > MAX_SUBJECT_LENGTH || unstorable(sub)) {
    throw new TokenRefused('sub')
  }
  return sub
}

/** From the token itself: the library does not preserve the digits of long numbers. */
function readContext({ context: rounded }: JWTPayload, token: string): JsonObject | null {
  if (rounded === undefined) return null
  const context = readTokenPart(token.split('.')[1] ?? '')?.context
  if (!isJsonObject(context) || Buffer.byteLength(JSON.stringify(context)) > MAX_CONTEXT_BYTES) {
    throw new TokenRefused('context')
  }
  const copy = frozenObject(context, 1)
  if (unstorable(copy) || unstorable(rounded as JsonObject)) throw new TokenRefused('context')
  return copy
}

function frozenCopy(value: JsonValue, depth: number): JsonValue {
  if (typeof value !== 'object' || value === null) return value
  if (!Array.isArray(value)) return frozenObject(value, depth)
  if (depth > MAX_CONTEXT_DEPTH) throw new TokenRefused('context too deep')
  const list = value.map((item) => frozenCopy(item, depth + 1))
  Object.freeze(list)
  return list
}

function frozenObject(value: JsonObject, depth: number): JsonObject {
  if (depth > MAX_CONTEXT_DEPTH) throw new TokenRefused('context too deep')
  const entries = Object.entries(value).filter(([name]) => name !== '__proto__')
  return Object.freeze(Object.fromEntries(entries.map(([name, item]) => [name, frozenCopy(item, depth + 1)])))
}
