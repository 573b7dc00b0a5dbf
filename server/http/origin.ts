import { type Env, env } from '../env'

/**
 * The scheme and host under which a caller reached the service. The headers of proxies count only if a proxy is
 * trusted, because any client can send `x-forwarded-host`. Of several proxies the first names the host that people see.
 */
export function reachedAt(
  headers: Headers,
  { TRUST_PROXY, VERCEL }: Pick<Env, 'TRUST_PROXY' | 'VERCEL'> = env(),
): { protocol: 'http' | 'https'; host: string } {
  const trusted = TRUST_PROXY > 0 || VERCEL
  const forwarded = (name: string) => (trusted ? headers.get(name)?.split(',')[0]?.trim() : undefined)
  return {
    protocol: forwarded('x-forwarded-proto') === 'https' ? 'https' : 'http',
    host: forwarded('x-forwarded-host') || (headers.get('host') ?? ''),
  }
}

const HOST = /^[A-Za-z0-9.-]{1,253}(:\d{1,5})?$|^\[[0-9a-f:.]{2,45}\](:\d{1,5})?$/i

/** The origin at which a request reached the service. */
export function originOf(headers: Headers): string {
  const { protocol, host } = reachedAt(headers)
  return `${protocol}://${HOST.test(host) ? host : `localhost:${env().port}`}`
}

/** Where people reach the service: `PUBLIC_URL` or, without it, where this request did. */
export function publicOrigin(headers: Headers): string {
  return (env().PUBLIC_URL ?? originOf(headers)).replace(/\/+$/, '')
}

/** The same for texts written without a request, such as a mail. */
export function serviceOrigin(): string {
  const { PUBLIC_URL, port } = env()
  return (PUBLIC_URL ?? `http://localhost:${port}`).replace(/\/+$/, '')
}
