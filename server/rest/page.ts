/** The rest of a list whose body is a bare array: how many there are, and where the next ones are. */
export function listHeaders(
  url: string,
  page: { items: unknown[]; total: number; limit: number; offset: number },
): Record<string, string> {
  const next = page.offset + page.items.length
  const headers: Record<string, string> = { 'x-total-count': String(page.total) }
  if (next >= page.total || page.items.length === 0) return headers
  const { pathname, searchParams } = new URL(url)
  searchParams.set('limit', String(page.limit))
  searchParams.set('offset', String(next))
  return { ...headers, link: `<${pathname}?${searchParams}>; rel="next"` }
}
