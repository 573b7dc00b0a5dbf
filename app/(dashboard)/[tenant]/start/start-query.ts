import type { BrowseStartable } from '@/server/views/workflows/startable'
import { readListQuery } from '../workflows/list-query'

/** The server query for the URL of the start pages' list. */
export function startQuery(get: (name: string) => string): BrowseStartable {
  const { q, page } = readListQuery(get)
  return { ...(q === undefined ? {} : { q }), ...(page === undefined ? {} : { page }) }
}
