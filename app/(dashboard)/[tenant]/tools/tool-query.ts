import { kindOf, listQuery } from '../_versioned/list-query'

/** The queries for the list's URL: the workspace's own tools, and the built-in ones. */
export function toolQuery(get: (name: string) => string) {
  const kind = kindOf(get('kind'))
  const query = listQuery(get)
  // Built-in tools are shown below the first page, and always count as published.
  const withBuiltin =
    kind === 'builtin' || (kind === null && query.offset === '0' && (query.status ?? 'published') === 'published')
  return {
    own: kind === 'builtin' ? null : { ...query, ...(kind === null ? {} : { kind }) },
    builtin: withBuiltin
      ? { kind: 'builtin' as const, ...(query.search === undefined ? {} : { search: query.search }) }
      : null,
  }
}
