import type { RouteAnswer } from '../openapi/endpoint'

interface Versioned {
  id: string
  version: number
}

/**
 * The answer for a versioned resource, its version as the `ETag` for `If-Match`.
 * @param path of the list, such as `/api/agents`
 */
export const versionedAnswer =
  (path: string) =>
  (item: Versioned, status: 200 | 201 = 200): RouteAnswer => {
    const created = status === 201 ? { location: `${path}/${item.id}` } : {}
    return { status, headers: { etag: `"${item.version}"`, ...created }, body: item }
  }
