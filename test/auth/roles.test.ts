import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { may, type Operation, POLICY } from '@/server/auth/policy'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import type { RouteHandler } from '@/server/rest/route'
import { ROLES, type Role } from '@/server/roles'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { claims, mint } from './support'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.JWT_AUDIENCE = 'app.example.com'
  process.env.LOG_LEVEL = 'silent'
  process.env.MILLRACE_EMBEDDED = '1'
})

/** The operation of each method of each path. A missing path fails the first test. */
const OPERATIONS: Record<string, Operation> = {
  'GET workflows': 'workflow:read',
  'POST workflows': 'workflow:write',
  'GET workflows/[id]': 'workflow:read',
  'PUT workflows/[id]': 'workflow:write',
  'DELETE workflows/[id]': 'workflow:publish',
  'POST workflows/[id]/publish': 'workflow:publish',
  'POST workflows/[id]/unarchive': 'workflow:publish',
  'POST workflows/[id]/clone': 'workflow:write',
  'POST workflows/[id]/simulate': 'workflow:simulate',
  'DELETE workflows/[id]/permanent': 'workflow:delete-permanently',
  'GET workflows/[id]/versions': 'workflow:read',
  'GET workflows/[id]/versions/[version]': 'workflow:read',
  'POST workflows/[id]/versions/[version]/restore': 'workflow:publish',
  'POST workflow/start/[workflowId]': 'run:start',
  'POST workflow/start-async/[workflowId]': 'run:start',
  'GET workflow/status/[runId]': 'run:read',
  'GET workflow/events/[runId]': 'run:read',
  'GET workflow/history/[runId]': 'run:read',
  'GET workflow/value/[runId]': 'run:read',
  'GET workflow/runs': 'run:read',
  'GET workflow/runs/export': 'run:read',
  'POST workflow/resume/[runId]': 'run:resume',
  'GET workflow/task-links/[runId]': 'run:read',
  'POST workflow/task-links/[runId]': 'run:resume',
  'DELETE workflow/task-links/[runId]/[linkId]': 'run:resume',
  'POST workflow/retry/[runId]': 'run:retry',
  'POST workflow/rerun/[runId]': 'run:retry',
  'POST workflow/management/cancel': 'run:cancel',
  'POST workflow/management/terminate': 'run:terminate',
  'GET workflow/metadata/input/[workflowId]': 'workflow:read',
  'GET files/[id]': 'file:read',
  'POST tools/[toolId]/invoke': 'tool:invoke',
  'GET tools': 'tool:read',
  'POST tools': 'tool:write',
  'GET tools/[toolId]': 'tool:read',
  'PUT tools/[toolId]': 'tool:write',
  'DELETE tools/[toolId]': 'tool:publish',
  'POST tools/[toolId]/publish': 'tool:publish',
  'POST tools/[toolId]/unarchive': 'tool:publish',
  'GET tools/[toolId]/versions': 'tool:read',
  'GET tools/[toolId]/versions/[version]': 'tool:read',
  'POST tools/mcp/list': 'tool:write',
  'GET agents': 'agent:read',
  'POST agents': 'agent:write',
  'GET agents/[agentId]': 'agent:read',
  'PUT agents/[agentId]': 'agent:write',
  'DELETE agents/[agentId]': 'agent:publish',
  'POST agents/[agentId]/publish': 'agent:publish',
  'POST agents/[agentId]/unarchive': 'agent:publish',
  'GET agents/[agentId]/versions': 'agent:read',
  'GET agents/[agentId]/versions/[version]': 'agent:read',
  'GET agents/[agentId]/schema': 'agent:read',
  'POST agents/[agentId]/invoke': 'agent:invoke',
  'POST chat': 'agent:invoke',
  'GET workflows/[id]/schedules': 'workflow:read',
  'POST workflows/[id]/schedules': 'workflow:publish',
  'GET workflows/[id]/schedules/[scheduleId]': 'workflow:read',
  'PUT workflows/[id]/schedules/[scheduleId]': 'workflow:publish',
  'DELETE workflows/[id]/schedules/[scheduleId]': 'workflow:publish',
  'GET workflows/[id]/inbound-webhooks': 'workflow:publish',
  'POST workflows/[id]/inbound-webhooks': 'workflow:publish',
  'GET workflows/[id]/inbound-webhooks/[inboundId]': 'workflow:publish',
  'PUT workflows/[id]/inbound-webhooks/[inboundId]': 'workflow:publish',
  'DELETE workflows/[id]/inbound-webhooks/[inboundId]': 'workflow:publish',
  'POST workflows/[id]/inbound-webhooks/[inboundId]/rotate': 'workflow:publish',
  'POST workflows/[id]/inbound-webhooks/[inboundId]/test': 'workflow:publish',
  'GET workflows/[id]/inbound-webhooks/[inboundId]/deliveries': 'workflow:publish',
  'GET workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]': 'workflow:publish',
  'POST workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]/replay': 'workflow:publish',
  'GET definitions': 'workflow:read',
  'POST definitions/diff': 'workflow:write',
  'POST definitions/apply': 'workflow:write',
  'POST events': 'event:post',
  'GET subjects/data': 'subject:delete',
  'DELETE subjects/data': 'subject:delete',
  'GET agents/[agentId]/threads': 'agent:read',
  'GET agents/[agentId]/threads/[threadId]': 'agent:read',
  'POST mcp': 'run:read',
  'GET members': 'member:manage',
  'PUT members/[userId]': 'member:manage',
  'DELETE members/[userId]': 'member:manage',
  'GET invitations': 'member:manage',
  'POST invitations': 'member:manage',
  'POST invitations/[invitationId]/renew': 'member:manage',
  'DELETE invitations/[invitationId]': 'member:manage',
  'GET vault': 'secret:manage',
  'POST vault': 'secret:manage',
  'PUT vault/[name]/hosts': 'secret:manage',
  'DELETE vault/[name]': 'secret:manage',
  'GET keys': 'key:manage',
  'POST keys': 'key:manage',
  'POST keys/[keyId]/rotate': 'key:manage',
  'POST keys/[keyId]/disable': 'key:manage',
  'POST keys/[keyId]/enable': 'key:manage',
  'GET signing-secrets': 'secret:manage',
  'POST signing-secrets': 'secret:manage',
  'PUT signing-secrets/[secretId]/limits': 'secret:manage',
  'POST signing-secrets/[secretId]/rotate': 'secret:manage',
  'POST signing-secrets/[secretId]/disable': 'secret:manage',
  'POST signing-secrets/[secretId]/enable': 'secret:manage',
  'GET audit': 'audit:read',
  'GET webhooks': 'webhook:manage',
  'POST webhooks': 'webhook:manage',
  'GET webhooks/[webhookId]': 'webhook:manage',
  'PUT webhooks/[webhookId]': 'webhook:manage',
  'DELETE webhooks/[webhookId]': 'webhook:manage',
  'POST webhooks/[webhookId]/rotate': 'webhook:manage',
  'POST webhooks/[webhookId]/test': 'webhook:manage',
  'GET webhooks/[webhookId]/deliveries': 'webhook:manage',
  'GET webhooks/[webhookId]/deliveries/[deliveryId]': 'webhook:manage',
  'POST webhooks/[webhookId]/deliveries/[deliveryId]/redeliver': 'webhook:manage',
}

/** Paths without a caller to authorize. */
const OPEN = ['[[...path]]', 'health', 'hooks/[hookId]', 'inngest', 'metrics', 'openapi.json']

/** The roles as decided, which the table in the code must match. */
const DECIDED: [Role, RegExp][] = [
  ['viewer', /^(?!audit|service)\w+:read$/],
  ['operator', /^(run:(start|resume|cancel|terminate|retry)|event:post|(agent|tool):invoke|task:answer)$/],
  ['editor', /^((workflow|agent|tool):(write|publish)|workflow:simulate)$/],
  ['admin', /^((key|secret|webhook|member|settings):manage|audit:read|run:reveal)$/],
  [
    'owner',
    /^(workflow:delete-permanently|(run|subject|audit):delete|service:read|secret:raise-role|member:manage-admin)$/,
  ],
]

const paths = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app/api'], { encoding: 'utf8' })
  .split('\n')
  // The dashboard's own paths, whose caller is a session and not a key.
  .filter((file) => file.endsWith('/route.ts') && !/^app\/api\/(auth|trpc)\//.test(file))
  .map((file) => file.slice('app/api/'.length, -'/route.ts'.length))
  .filter((path) => !OPEN.includes(path))

type Module = Record<string, RouteHandler>
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE']

describe('the roles', () => {
  let database: FreshDatabase
  const keys = {} as Record<Role, string>
  const tokens = {} as Record<Role, string>
  const load = (path: string): Promise<Module> => import(/* @vite-ignore */ resolve(`app/api/${path}/route.ts`))

  beforeAll(async () => {
    database = await freshDatabase()
    process.env.DATABASE_URL = database.url
    const ctx = await newTenant(database)
    for (const role of ROLES) {
      keys[role] = (await createApiKey(ctx, { name: role, role })).key
      const { id, secret } = await createSigningSecret(ctx, { name: role, role })
      const now = Math.floor(Date.now() / 1000)
      tokens[role] = mint({ alg: 'HS256', kid: id }, claims({ iat: now, exp: now + 3600 }), secret)
    }
  })
  afterAll(() => database.close())

  /** Calls with ids that do not exist: callers with permission learn that, others do not. */
  async function call(operation: string, headers: Record<string, string>): Promise<Response> {
    const [method = '', path = ''] = operation.split(' ')
    const params = Object.fromEntries([...path.matchAll(/\[(\w+)\]/g)].map(([, name]) => [name, '7']))
    const url = `http://localhost/api/${path.replaceAll(/\[\w+\]/g, '7')}`
    const request = new Request(url, {
      method,
      headers: { ...headers, ...(method === 'GET' ? {} : { 'content-type': 'application/json' }) },
      ...(method === 'GET' ? {} : { body: '{}' }),
    })
    const handler = (await load(path))[method]
    if (!handler) throw new Error(`${operation} has no handler`)
    return handler(request, { params: Promise.resolve(params) })
  }

  test('are defined for every method of every path', async () => {
    const found: string[] = []
    for (const path of paths) {
      for (const method of METHODS) {
        if ((await call(`${method} ${path}`, {})).status !== 405) found.push(`${method} ${path}`)
      }
    }
    expect(found.sort()).toEqual(Object.keys(OPERATIONS).sort())
  })

  test('match the decision', () => {
    const decided = Object.fromEntries(
      Object.keys(POLICY).map((operation) => [operation, DECIDED.find(([, names]) => names.test(operation))?.[0]]),
    )
    expect(POLICY).toEqual(decided)
  })

  const cases = Object.entries(OPERATIONS).flatMap(([call, operation]) =>
    ROLES.map((role): [Role, string, Operation] => [role, call, operation]),
  )

  test.each(cases)('%s: %s', async (role, path, operation) => {
    for (const headers of [{ 'x-api-key': keys[role] }, { authorization: `Bearer ${tokens[role]}` }]) {
      const response = await call(path, headers)
      const body = await response.text()
      if (may(role, operation)) {
        expect([401, 403]).not.toContain(response.status)
        expect(response.status, body).toBeLessThan(500)
      } else {
        expect(response.status, body).toBe(403)
        expect(JSON.parse(body)).toMatchObject({ success: false, error: { code: 'FORBIDDEN', message: 'Forbidden' } })
      }
    }
  })

  test.each(Object.keys(OPERATIONS))('nobody without a credential: %s', async (path) => {
    const response = await call(path, {})
    expect(response.status).toBe(401)
    const message = /^\w+ (tools|agents|chat)(\/|$)/.test(path) ? 'Invalid or disabled API key' : 'Unauthorized'
    expect(await response.json()).toMatchObject({
      success: false,
      error: { code: 'UNAUTHORIZED', message, details: [] },
    })
  })
})
