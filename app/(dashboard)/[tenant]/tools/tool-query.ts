import { kindOf, listQuery } from '../_versioned/list-query'

/** What the server is asked for by the list's URL: the workspace's own tools, and those that everybody has. */
export function toolQuery(get: (name: string) => string) {
  const kind = kindOf(get('kind'))
  const query = listQuery(get)
  // Those that everybody has stand below the first page, and are always published.
  const withBuiltin =
    kind === 'builtin' || (kind === null && query.offset === '0' && (query.status ?? 'published') === 'published')
  return {
    own: kind === 'builtin' ? null : { ...query, ...(kind === null ? {} : { kind }) },
    builtin: withBuiltin
      ? { kind: 'builtin' as const, ...(query.search === undefined ? {} : { search: query.search }) }
      : null,
  }
}
