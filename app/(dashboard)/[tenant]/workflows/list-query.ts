import type { BrowseWorkflows } from '@/server/views/workflows/browse'

/** The server query for the list's URL. Invalid values are ignored. */
export function readListQuery(get: (name: string) => string): BrowseWorkflows {
  const status = get('status')
  const page = Number(get('page'))
  const q = get('q').trim().slice(0, 200)
  return {
    ...(q ? { q } : {}),
    ...(status === 'draft' || status === 'published' ? { status } : {}),
    ...(status === 'archived' ? { archived: true } : {}),
    ...(get('sort') === 'name' ? { sort: 'name' as const } : {}),
    ...(Number.isInteger(page) && page > 1 && page <= 1_000_000 ? { page } : {}),
  }
}
