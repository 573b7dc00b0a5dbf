import type { RouteAnswer } from './endpoint'

interface Page {
  items: unknown[]
  total: number
  limit: number
  offset: number
}

/** A list as a bare array; the total count and the link to the next page are in headers. */
export function listAnswer(request: Request, page: Page): RouteAnswer {
  return { headers: listHeaders(request.url, page), body: page.items }
}

function listHeaders(url: string, page: Page): Record<string, string> {
  const next = page.offset + page.items.length
  const headers: Record<string, string> = { 'x-total-count': String(page.total) }
  if (next >= page.total || page.items.length === 0) return headers
  const { pathname, searchParams } = new URL(url)
  searchParams.set('limit', String(page.limit))
  searchParams.set('offset', String(next))
  return { ...headers, link: `<${pathname}?${searchParams}>; rel="next"` }
}
