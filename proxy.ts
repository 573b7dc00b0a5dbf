import { type NextRequest, NextResponse } from 'next/server'

/**
 * Sets the content security policy of pages. Scripts run only with this request's nonce, which Next reads from the
 * policy and adds to its own. Inline styles are allowed because the component library and the canvas set positions that
 * way; user text never becomes part of one. Also passes pages their own address, which layouts do not know.
 * Authenticates nothing: every page and every call does that itself.
 */
export function proxy(request: NextRequest): NextResponse {
  const nonce = btoa(crypto.randomUUID())
  // In development, React explains errors with eval, and the page reloads itself over a socket.
  const development = process.env.NODE_ENV === 'development'
  const { BLOB_READ_WRITE_TOKEN, FILES_S3_URL } = process.env
  // As `fileStoreKind` decides it.
  const isBlobStore = Boolean(BLOB_READ_WRITE_TOKEN) && !FILES_S3_URL
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}' 'strict-dynamic'${development ? " 'unsafe-eval'" : ''}`,
    "style-src 'self' 'unsafe-inline'",
    "img-src 'self' data: blob:",
    "font-src 'self'",
    // Pages send large files straight to the store.
    `connect-src 'self'${isBlobStore ? ' https://vercel.com/api/blob/' : ''}${development ? ' ws:' : ''}`,
    "worker-src 'self' blob:",
    "object-src 'none'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
  ].join('; ')
  const headers = new Headers(request.headers)
  headers.set('x-nonce', nonce)
  headers.set('content-security-policy', policy)
  // For the return after signing in. Always set here, so that no caller can choose it.
  const { pathname, searchParams } = request.nextUrl
  searchParams.delete('_rsc')
  headers.set('x-address', pathname + (searchParams.size > 0 ? `?${searchParams}` : ''))
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('content-security-policy', policy)
  // Browsers only respect it over https, which may end at a proxy in front of this server. Unless proxies are trusted,
  // the web process has removed their headers.
  const forwarded = request.headers.get('x-forwarded-proto') ?? request.nextUrl.protocol.replace(':', '')
  if (forwarded === 'https' || process.env.PUBLIC_URL?.startsWith('https://'))
    response.headers.set('strict-transport-security', 'max-age=31536000')
  return response
}

export const config = {
  // Everything except the API, which sets its own policy, the build's files and those in `public`.
  matcher: [{ source: '/((?!api/|api$|_next/static/|(?:icon\\.svg|robots\\.txt|social\\.png)$).*)' }],
}
