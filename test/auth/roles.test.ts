import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { may, type Operation, POLICY } from '@/server/auth/policy'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { ENDPOINTS } from '@/server/rest/endpoints'
import type { RouteHandler } from '@/server/rest/route'
import { folderOf } from '@/server/rest/serve'
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

/** The requirements that each endpoint documents. */
const OPERATIONS: Record<string, Operation> = Object.fromEntries(
  Object.values(ENDPOINTS).flatMap((endpoint) =>
    endpoint.permission === null
      ? []
      : [[`${endpoint.method} ${folderOf(endpoint).slice('/api/'.length)}`, endpoint.permission]],
  ),
)

/** Paths without a caller to authorize. */
const OPEN = ['[[...path]]', 'files/[id]/content', 'health', 'hooks/[hookId]', 'inngest', 'metrics', 'openapi.json']

/** The roles as decided, which the table in the code must match. */
const DECIDED: [Role, RegExp][] = [
  ['viewer', /^(?!audit|service)\w+:read$/],
  ['operator', /^(run:(start|resume|cancel|terminate|retry)|event:post|(agent|tool):invoke|task:answer|file:upload)$/],
  ['editor', /^((workflow|agent|tool):(write|publish)|workflow:simulate|definitions:check|run:move)$/],
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
  let checks = ''
  const load = (path: string): Promise<Module> => import(/* @vite-ignore */ resolve(`app/api/${path}/route.ts`))

  beforeAll(async () => {
    database = await freshDatabase()
    process.env.DATABASE_URL = database.url
    const ctx = await newTenant(database)
    checks = (await createApiKey(ctx, { name: 'Pull requests', role: 'owner', only: 'definitions:check' })).key
    for (const role of ROLES) {
      keys[role] = (await createApiKey(ctx, { name: role, role })).key
      const { id, secret } = await createSigningSecret(ctx, { name: role, role })
      const now = Math.floor(Date.now() / 1000)
      tokens[role] = mint({ alg: 'HS256', kid: id }, claims({ iat: now, exp: now + 3600 }), secret)
    }
  })
  afterAll(() => database.close())

  /** Calls with ids that do not exist: callers with permission get that error, others do not. */
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

  test.each(Object.entries(OPERATIONS))('a key that only checks definitions: %s', async (path, operation) => {
    const response = await call(path, { 'x-api-key': checks })
    const body = await response.text()
    if (operation === 'definitions:check') return expect(response.status, body).toBe(200)
    expect(response.status, body).toBe(403)
    expect(JSON.parse(body)).toMatchObject({
      error: { details: [{ message: 'This API key may only compare definitions, and try past runs on them.' }] },
    })
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
