import { timingSafeEqual } from 'node:crypto'
import { type Env, env } from '../../env'

/** Set by the web process on requests directly from this machine; it removes the header from clients. */
export const LOCAL_HEADER = 'x-millrace-local'

/**
 * Whether the request came from this machine. The web process decides by the connection and marks the request with a
 * key only it and this process know. A service with a public name has no such requests.
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
