import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { type Answer, type Caller, type CallOptions, call } from './api'

/** A valid body for each method and path that takes one, so that only the id is wrong. */
const BODIES: Record<string, (id: string) => unknown> = {
  'POST /api/workflows/:id/schedules': () => ({ name: 'Taken over', cron: '0 9 * * *' }),
  'POST /api/workflows/:id/inbound-webhooks': () => ({ name: 'Taken over', scheme: 'github' }),
  'PUT /api/workflows/:id': () => ({ name: 'Taken over' }),
  'POST /api/workflow/resume/:runId': () => ({ type: 'collect_inputs', data: { item: 'x', amount: 1 } }),
  'POST /api/workflow/management/cancel': (id) => ({ runId: id, reason: 'x' }),
  'POST /api/workflow/management/terminate': (id) => ({ runId: id, reason: 'x' }),
  'POST /api/agents/:agentId/invoke': () => ({ message: 'hello' }),
  'POST /api/chat': (id) => ({ agentId: id, message: 'hello' }),
  'PUT /api/members/:userId': () => ({ role: 'viewer' }),
  'PUT /api/vault/:name/hosts': () => ({ hosts: ['evil.example.com'] }),
  'PUT /api/tools/:toolId': () => ({ name: 'Taken over' }),
  'PUT /api/agents/:agentId': () => ({ name: 'Taken over' }),
}

/** Paths whose object belongs to nobody. */
const WITHOUT_ID = [
  'POST /api/events',
  'POST /api/mcp',
  'GET /api/definitions',
  'POST /api/definitions/diff',
  'POST /api/definitions/apply',
  'GET /api/workflows',
  'POST /api/workflows',
  'GET /api/workflow/runs',
  'GET /api/workflow/runs/export',
  'GET /api/subjects/data',
  'DELETE /api/subjects/data',
  'GET /api/tools',
  'POST /api/tools',
  'POST /api/tools/mcp/list',
  'GET /api/agents',
  'POST /api/agents',
  'GET /api/members',
  'GET /api/invitations',
  'POST /api/invitations',
  'GET /api/vault',
  'POST /api/vault',
  'GET /api/keys',
  'POST /api/keys',
  'GET /api/signing-secrets',
  'POST /api/signing-secrets',
  'GET /api/audit',
  'GET /api/webhooks',
  'POST /api/webhooks',
  'GET /api/health',
  'GET /api/metrics',
  'GET /api/openapi.json',
]

export interface Route {
  method: string
  path: string
}

const routes: Route[] = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app/api'], { encoding: 'utf8' })
  .split('\n')
  .filter((file) => file.endsWith('/route.ts') && !/\/(inngest|trpc|auth)\/|\[\[/.test(file))
  .flatMap((file) => {
    const text = readFileSync(file, 'utf8')
    const path = `/${file
      .replace(/^app\//, '')
      .replace(/\/route\.ts$/, '')
      .replace(/\[(\w+)\]/g, ':$1')}`
    return ['GET', 'POST', 'PUT', 'DELETE']
      .filter((method) => new RegExp(`^ +${method}: |function ${method}\\(`, 'm').test(text))
      .map((method) => ({ method, path }))
  })
/** Every route that names an object: what the isolation tests go through. */
export const swept = routes.filter(({ method, path }) => !WITHOUT_ID.includes(`${method} ${path}`))

/** Calls a route with an id wherever it takes one, and a body that is otherwise valid. */
export function attempt(caller: Caller, name: string, { method, path }: Route, id: string, options: CallOptions = {}) {
  const url = path.replace(/:(version|n)\b/, '1').replace(/:\w+/g, encodeURIComponent(id))
  const takesBody = method === 'POST' || method === 'PUT'
  return call(caller, method, url, takesBody ? (BODIES[name]?.(id) ?? {}) : undefined, options)
}

/** What an answer says, apart from the two things that differ between any two answers. */
export function withoutRequestId({ body }: Answer, id: string): string {
  return JSON.stringify({ ...body, requestId: '' }).replaceAll(id, '<id>')
}
