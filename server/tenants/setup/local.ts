import { timingSafeEqual } from 'node:crypto'
import { type Env, env } from '../../env'

/** Set by the web process on requests that came straight from this machine; it removes what a client wrote there. */
export const LOCAL_HEADER = 'x-millrace-local'

/**
 * Whether the request came from this machine itself. The web process decides by the connection, and marks the request
 * with a key that only the two of them know; a service that others reach under a name of its own has no such requests.
 */
export function isLocalRequest(
  headers: Headers,
  settings: Pick<Env, 'MILLRACE_LOCAL_KEY' | 'PUBLIC_URL' | 'NEXTAUTH_URL' | 'TRUST_PROXY' | 'VERCEL'> = env(),
): boolean {
  const { MILLRACE_LOCAL_KEY: key, PUBLIC_URL, NEXTAUTH_URL, TRUST_PROXY, VERCEL } = settings
  if (!key || VERCEL || TRUST_PROXY > 0) return false
  if (![PUBLIC_URL, NEXTAUTH_URL].every((url) => url === undefined || isLoopbackUrl(url))) return false
  const mark = Buffer.from(headers.get(LOCAL_HEADER) ?? '')
  const expected = Buffer.from(key)
  return mark.length === expected.length && timingSafeEqual(mark, expected)
}

export function isLoopbackUrl(url: string): boolean {
  return URL.canParse(url) && /^(localhost|127(\.\d+){3}|\[::1\])$/.test(new URL(url).hostname)
}
