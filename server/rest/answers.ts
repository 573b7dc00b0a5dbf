import type { RouteAnswer } from './exchange'

interface Versioned {
  id: string
  version: number
}

/** The answer for a versioned resource. Its version is the `ETag` that `If-Match` takes. */
const versionedAnswer =
  (path: string) =>
  (item: Versioned, status: 200 | 201 = 200): RouteAnswer => {
    const created = status === 201 ? { location: `${path}/${item.id}` } : {}
    return { status, headers: { etag: `"${item.version}"`, ...created }, body: item }
  }

export const workflowAnswer = versionedAnswer('/api/workflows')
export const agentAnswer = versionedAnswer('/api/agents')
export const toolAnswer = versionedAnswer('/api/tools')
