import type { RouteAnswer } from './route'

/** A tool as an answer. Its tag is what `If-Match` takes. */
export function toolAnswer(tool: { id: string; version: number }, status: 200 | 201 = 200): RouteAnswer {
  const created = status === 201 ? { location: `/api/tools/${tool.id}` } : {}
  return { status, headers: { etag: `"${tool.version}"`, ...created }, body: tool }
}
