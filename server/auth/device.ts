import { createHash } from 'node:crypto'
import { decode, encode } from 'next-auth/jwt'
import { isJsonObject } from '../definition/json'
import { newId } from '../ids'
import { readCookies } from './node-call'
import { sessionSecrets } from './session-secret'

/** How long a browser is known after somebody last signed in with it. */
const LIFE_S = 365 * 24 * 3600
/** Only this part of the service reads it. */
const PATH = '/api/auth'
/** So that it can never be taken for the cookie of a session, which has the same secret. */
const SALT = 'millrace device'

/**
 * A browser in which an account was signed in before. It has attempts of its own, so nobody who only knows the account's
 * address can use them up. It proves nothing else: whoever has it still needs the password.
 * @returns what its attempts are counted by; null for a browser that is not known to the account
 */
export async function readDevice(headers: Headers, email: string): Promise<string | null> {
  return (await openCookie(headers, email))?.id ?? null
}

/** The `Set-Cookie` with which this browser is known to the account from now on; null if it is known for long enough. */
export async function deviceCookie(headers: Headers, email: string, secure: boolean): Promise<string | null> {
  const known = await openCookie(headers, email)
  if (known && known.leftS > LIFE_S / 2) return null
  const value = await encode({
    token: { email, device: known?.id ?? newId('dev') },
    secret: sessionSecrets()[0],
    salt: SALT,
    maxAge: LIFE_S,
  })
  const flags = ['HttpOnly', 'SameSite=Lax', ...(secure ? ['Secure'] : [])]
  return [`${nameFor(email, secure)}=${value}`, `Path=${PATH}`, `Max-Age=${LIFE_S}`, ...flags].join('; ')
}

/** A browser may be known to several accounts. */
function nameFor(email: string, secure: boolean): string {
  const account = createHash('sha256').update(email).digest('hex').slice(0, 12)
  return `${secure ? '__Secure-' : ''}millrace.device.${account}`
}

async function openCookie(headers: Headers, email: string): Promise<{ id: string; leftS: number } | null> {
  const cookies = readCookies(headers)
  const value = cookies[nameFor(email, true)] ?? cookies[nameFor(email, false)]
  if (value === undefined) return null
  for (const secret of sessionSecrets()) {
    const opened: unknown = await decode({ token: value, secret, salt: SALT }).catch(() => null)
    if (!isJsonObject(opened) || opened.email !== email || typeof opened.device !== 'string') continue
    return { id: opened.device, leftS: Number(opened.exp) - Date.now() / 1_000 }
  }
  return null
}
