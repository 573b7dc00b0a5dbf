import type { RouteAnswer } from './route'

/** A definition as an answer. Its tag is what `If-Match` takes. */
export function definitionAnswer(workflow: { id: string; version: number }, status: 200 | 201 = 200): RouteAnswer {
  const created = status === 201 ? { location: `/api/workflows/${workflow.id}` } : {}
  return { status, headers: { etag: `"${workflow.version}"`, ...created }, body: workflow }
}
