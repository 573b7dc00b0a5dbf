import type { RouteAnswer } from './route'

/** An agent as an answer. Its tag is what `If-Match` takes. */
export function agentAnswer(agent: { id: string; version: number }, status: 200 | 201 = 200): RouteAnswer {
  const created = status === 201 ? { location: `/api/agents/${agent.id}` } : {}
  return { status, headers: { etag: `"${agent.version}"`, ...created }, body: agent }
}
