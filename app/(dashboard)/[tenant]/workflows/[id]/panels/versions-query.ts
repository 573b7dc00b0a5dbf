import type { QueryKey } from '@tanstack/react-query'

/** The page of a workflow's history from this offset. */
export const versionsFrom = (id: string, offset: number) => ({ id, page: { limit: '50', offset: String(offset) } })

/** The key of the whole history, which the browser fetches page by page. */
export const historyKey = (versions: { pathKey(): QueryKey }, id: string): QueryKey => [...versions.pathKey(), id]
