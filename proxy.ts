import { type NextRequest, NextResponse } from 'next/server'

/**
 * The content security policy of pages. Scripts run only with this request's nonce, which Next reads from the policy
 * and puts on its own. Styles may be inline: the component library and the canvas set positions that way, and no text
 * of a user's is ever part of one. There is no authentication here: every page and every call does its own.
 */
export function proxy(request: NextRequest): NextResponse {
  const nonce = btoa(crypto.randomUUID())
  // React explains errors with eval while it is being developed with, and the page reloads itself over a socket.
  const development = process.env.NODE_ENV === 'development'
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    `connect-src 'self'${development ? ' ws:' : ''}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ].join('; ')
  const headers = new Headers(request.headers)
  headers.set('x-nonce', nonce)
  headers.set('content-security-policy', policy)
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('content-security-policy', policy)
  // Browsers heed it over https only; a proxy in front may be the one that speaks it. The web process has removed the
  // header unless proxies are trusted.
  const forwarded = request.headers.get('x-forwarded-proto') ?? request.nextUrl.protocol.replace(':', '')
  if (forwarded === 'https' || process.env.PUBLIC_URL?.startsWith('https://'))
    response.headers.set('strict-transport-security', 'max-age=31536000')
  return response
}

export const config = {
  // Everything but the API, which brings its own policy, the files of the build and those of `public`.
  matcher: [{ source: '/((?!api/|api$|_next/static/|(?:icon\\.svg|robots\\.txt|social\\.png)$).*)' }],
}
