export const PAGE_SIZE = 25

interface ListQuery {
  limit: string
  offset: string
  search?: string
  status?: 'draft' | 'published' | 'archived'
}

/** The server query for a list's URL. Page and browser send the same query, so the first result is reused. */
export function listQuery(get: (name: string) => string): ListQuery {
  const page = Math.max(1, Math.min(1_000_000, Math.floor(Number(get('page'))) || 1))
  const status = get('status')
  const q = get('q').slice(0, 200)
  return {
    limit: String(PAGE_SIZE),
    offset: String((page - 1) * PAGE_SIZE),
    ...(q === '' ? {} : { search: q }),
    ...(status === 'draft' || status === 'published' || status === 'archived' ? { status } : {}),
  }
}

export function kindOf(text: string): 'script' | 'http' | 'mcp' | 'builtin' | null {
  return text === 'script' || text === 'http' || text === 'mcp' || text === 'builtin' ? text : null
}

/** The first value of each name in a URL. */
export function reader(search: URLSearchParams): (name: string) => string {
  return (name) => search.get(name) ?? ''
}
