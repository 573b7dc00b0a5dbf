import { execFileSync } from 'node:child_process'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { AUDIT_ACTIONS } from '@/server/definition/audit'
import type { RouteHandler } from '@/server/rest/route'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { KINDS } from '../trpc/procedures'
import { callProcedure, NOBODY, newVisitor, type Visitor } from '../trpc/support'
import { type Change, EXEMPT, EXEMPT_ROUTES, PROCEDURES, ROUTES } from './changes'
import { type World, world } from './world'

// I32. A verb that forgets its entry fails here, and so does a procedure or a route that no table mentions.

vi.hoisted(() => {
  Object.assign(process.env, {
    ...{ ENCRYPTION_KEY: 'ab'.repeat(32), LOG_LEVEL: 'silent', MILLRACE_EMBEDDED: '1' },
    ...{ SETUP_TOKEN: 'the token of the first owner' },
  })
})

let database: FreshDatabase
let ctx: ServiceContext
let of: World
let owner: Visitor
let viewer: Visitor
const keys = { owner: '', viewer: '' }

beforeAll(async () => {
  database = await freshDatabase()
  process.env.DATABASE_URL = database.url
  ctx = await newTenant(database)
})
afterAll(() => database.close())

const last = async () => Number((await database.sql`select max(seq) as seq from audit_entries`)[0]?.seq ?? 0)
const since = (seq: number) =>
  database.sql<{ action: string; actor_name: string; entry: string }[]>`
    select action, actor_name, to_jsonb(a)::text as entry from audit_entries a where seq > ${seq} order by seq`
const written = async (seq: number) => (await since(seq)).map(({ action }) => action)

/** The entries of a refused call, and of a successful one. */
async function expectEntries(
  { writes, by, input }: Change,
  call: (caller: 'owner' | 'viewer', given: Record<string, unknown>) => Promise<{ status: number; text: string }>,
): Promise<void> {
  const given = { ...(await input(of)) } as Record<string, unknown>
  const before = await last()
  if (!by) {
    const refused = await call('viewer', given)
    expect(refused.status, refused.text).toBe(403)
    expect(await written(before)).toEqual([])
  }
  const done = await call('owner', given)
  expect(done.status, done.text).toBeLessThan(300)
  expect(await written(before)).toEqual(writes)
}

test('the first owner is written', async () => {
  const person = { name: 'Ada', email: 'ada@example.com', password: 'never in the log 6', workspace: 'Engines' }
  const before = await last()
  const { status, text } = await callProcedure(NOBODY, 'auth.setup', { ...person, token: process.env.SETUP_TOKEN })
  expect(status, text).toBe(200)
  expect(await written(before)).toEqual(['workspace.renamed', 'member.added'])
})

describe('one entry is written by', () => {
  beforeAll(async () => {
    of = world(ctx)
    owner = { ...(await newVisitor(ctx, 'owner')), tenant: 'engines' }
    viewer = { ...(await newVisitor(ctx, 'viewer')), tenant: 'engines' }
    for (const role of ['owner', 'viewer'] as const) keys[role] = (await createApiKey(ctx, { name: role, role })).key
  })

  test('each sample that is added, and its publication', async () => {
    const before = await last()
    const { status } = await callProcedure(owner, 'workflows.addSamples', {})
    expect(status).toBe(200)
    const actions = await written(before)
    for (const noun of ['workflow', 'agent', 'tool']) {
      const [made, published] = ['created', 'published'].map(
        (did) => actions.filter((a) => a === `${noun}.${did}`).length,
      )
      expect(made).toBeGreaterThan(2)
      expect(published).toBe(made)
    }
    const again = await last()
    await callProcedure(owner, 'workflows.addSamples', {})
    expect(await written(again)).toEqual([])
  })

  test.each(Object.keys(PROCEDURES))('%s', async (name) => {
    const change = PROCEDURES[name] as Change
    const visitor = { nobody: NOBODY, 'a new member': { ...(await newVisitor(ctx, 'editor')), tenant: 'engines' } }
    await expectEntries(change, (caller, given) =>
      callProcedure(change.by ? visitor[change.by] : { owner, viewer }[caller], name, given),
    )
  })

  test.each(Object.keys(ROUTES))('%s', async (name) => {
    const [method = '', path = ''] = name.split(' ')
    const handlers: Record<string, RouteHandler> = await import(/* @vite-ignore */ resolve(`app/api/${path}/route.ts`))
    await expectEntries(ROUTES[name] as Change, async (caller, { body, query, ...ids }) => {
      const params = Object.fromEntries(
        [...path.matchAll(/\[(\w+)\]/g)].map(([, key = '']) => [key, String(ids[key] ?? ids.workflowId ?? ids.id)]),
      )
      const search = new URLSearchParams((query as Record<string, string>) ?? {})
      const request = new Request(`http://localhost/api/${path}?${search}`, {
        method,
        headers: { 'x-api-key': keys[caller], 'content-type': 'application/json', 'x-request-id': 'the-request' },
        body: JSON.stringify(body ?? {}),
      })
      const response = await handlers[method]?.(request, { params: Promise.resolve(params) })
      return { status: response?.status ?? 0, text: (await response?.text()) ?? '' }
    })
    const [entry] = await database.sql`select * from audit_entries order by seq desc limit 1`
    expect(entry).toMatchObject({ actor_kind: 'apiKey', actor_name: 'owner', request_id: 'the-request' })
  })
})

test('an entry never has a secret', async () => {
  const all = (await since(0)).map(({ entry }) => entry).join('\n')
  expect(all).not.toContain('never in the log')
  expect(all).not.toContain(keys.owner)
})

describe('nothing is forgotten:', () => {
  test('every procedure that changes something writes an entry, or is exempt for a reason', () => {
    const special = ['auth.setup', 'workflows.addSamples']
    const named = [...Object.keys(PROCEDURES), ...Object.keys(EXEMPT), ...special]
    const mutations = Object.keys(KINDS).filter((name) => KINDS[name] === 'mutation')
    expect(named.sort()).toEqual(mutations.sort())
  })

  test('so does every route', async () => {
    const named = [...Object.keys(ROUTES), ...Object.keys(EXEMPT_ROUTES)]
    const files = execFileSync('git', ['ls-files', '-co', '--exclude-standard', 'app/api'], { encoding: 'utf8' })
    const paths = files
      .split('\n')
      .filter((file) => file.endsWith('/route.ts') && !/^app\/api\/(auth|trpc|inngest|\[\[)/.test(file))
      .map((file) => file.slice('app/api/'.length, -'/route.ts'.length))
    const found: string[] = []
    for (const path of paths) {
      const handlers: Record<string, RouteHandler> = await import(
        /* @vite-ignore */ resolve(`app/api/${path}/route.ts`)
      )
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const request = new Request('http://localhost/api/x', { method })
        const params = Promise.resolve({})
        if ((await handlers[method]?.(request, { params }))?.status !== 405) found.push(`${method} ${path}`)
      }
    }
    expect(named.sort()).toEqual(found.sort())
  })

  test('every action of the log is written by one of them', () => {
    const writes = [...Object.values(PROCEDURES), ...Object.values(ROUTES)].flatMap((change) => change.writes)
    // By setup, by the command line, and by the first boot.
    const others = ['member.added', 'workspace.created']
    expect([...new Set([...writes, ...others])].sort()).toEqual([...AUDIT_ACTIONS].sort())
  })
})
