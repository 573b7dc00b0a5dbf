import { createHash, hkdfSync } from 'node:crypto'
import { jwtVerify, SignJWT } from 'jose'
import { newId } from '../ids'
import { readCookies } from './node-call'
import { sessionSecrets } from './session-secret'

/** How long a browser is remembered after its last sign-in. */
const LIFE_S = 365 * 24 * 3600
/** Only this part of the service reads it. */
const PATH = '/api/auth'
const AUDIENCE = 'millrace device'
const ALGORITHM = 'HS256'

/**
 * A browser in which an account was signed in before. It has attempts of its own, so that knowing the account's address
 * is not enough to use them up. It proves nothing else: its user still needs the password.
 * @returns the key for counting its attempts; null for a browser that the account does not know
 */
export async function readDevice(headers: Headers, email: string): Promise<string | null> {
  return (await openCookie(headers, email))?.id ?? null
}

/** The `Set-Cookie` that makes this browser known to the account; null if it remains known for long enough. */
export async function deviceCookie(headers: Headers, email: string, secure: boolean): Promise<string | null> {
  const known = await openCookie(headers, email)
  if (known && known.leftS > LIFE_S / 2) return null
  const value = await new SignJWT()
    .setProtectedHeader({ alg: ALGORITHM })
    .setAudience(AUDIENCE)
    .setSubject(digestOf(email))
    .setJti(known?.id ?? newId('dev'))
    .setExpirationTime(`${LIFE_S}s`)
    .sign(keyFrom(sessionSecrets()[0]))
  const flags = ['HttpOnly', 'SameSite=Lax', ...(secure ? ['Secure'] : [])]
  return [`${nameFor(email, secure)}=${value}`, `Path=${PATH}`, `Max-Age=${LIFE_S}`, ...flags].join('; ')
}

/** A browser may be known to several accounts. */
function nameFor(email: string, secure: boolean): string {
  return `${secure ? '__Secure-' : ''}millrace.device.${digestOf(email).slice(0, 12)}`
}

const digestOf = (email: string) => createHash('sha256').update(email).digest('hex')

/** A key of its own, so that a cookie of another kind is never accepted. */
function keyFrom(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', AUDIENCE, 32))
}

async function openCookie(headers: Headers, email: string): Promise<{ id: string; leftS: number } | null> {
  const cookies = readCookies(headers)
  const value = cookies[nameFor(email, true)] ?? cookies[nameFor(email, false)]
  if (value === undefined) return null
  const expected = { audience: AUDIENCE, subject: digestOf(email), algorithms: [ALGORITHM] }
  for (const secret of sessionSecrets()) {
    const opened = await jwtVerify(value, keyFrom(secret), expected).catch(() => null)
    const { jti, exp = 0 } = opened?.payload ?? {}
    if (jti) return { id: jti, leftS: exp - Date.now() / 1_000 }
  }
  return null
}
