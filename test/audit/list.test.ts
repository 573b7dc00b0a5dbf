import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { listAuditActors } from '@/server/audit-log/actors'
import { auditAnswer } from '@/server/audit-log/answer'
import { type AuditEntry, listAudit } from '@/server/audit-log/list'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { setVaultSecret } from '@/server/vault/set'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant, withRole } from '../support/tenant'

vi.hoisted(() => {
  Object.assign(process.env, { ENCRYPTION_KEY: 'ab'.repeat(32) })
})

let database: FreshDatabase
let ctx: ServiceContext
let order: string
const STEPS = [{ id: 'order', type: 'collect-inputs', output: { item: { type: 'string' } } }]

beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  const ada = { ...ctx, actor: { kind: 'user', id: 'usr_ada', name: 'Ada', sessionId: 's', role: 'owner' } } as const
  order = (
    await createWorkflow({ ...ada, requestId: 'req-1', address: () => '203.0.113.7' }, { name: '=Order', steps: STEPS })
  ).id
  await publishWorkflow(ada, { id: order })
  for (let n = 0; n < 5; n++) await createApiKey(ctx, { name: `Key ${n}`, role: 'viewer' })
  // Of another workspace.
  await createWorkflow(await newTenant(database), { name: 'Theirs' })
})
afterAll(() => database.close())

const read = (query: Record<string, string>, by = ctx) => listAudit(by, query)
const actions = async (query: Record<string, string>) => (await read(query)).entries.map(({ action }) => action)

describe('the audit log', () => {
  test('is read in pages, newest first, each entry once', async () => {
    const seen: AuditEntry[] = []
    let cursor: string | null = null
    do {
      const page = await read({ limit: '2', ...(cursor ? { cursor } : {}) })
      seen.push(...page.entries)
      cursor = page.nextCursor
      // New entries move no entry to another page.
      if (seen.length === 2) await createApiKey(ctx, { name: 'Meanwhile', role: 'viewer' })
    } while (cursor)
    expect(seen.map(({ thing }) => thing.name)).toEqual([
      ...['Key 4', 'Key 3', 'Key 2', 'Key 1', 'Key 0'],
      ...['=Order', '=Order'],
    ])
    expect(seen.at(-1)).toMatchObject({
      actor: { kind: 'user', id: 'usr_ada', name: 'Ada' },
      ...{ action: 'workflow.created', thing: { kind: 'workflow', id: order, name: '=Order' } },
      ...{ requestId: 'req-1', address: '203.0.113.7' },
    })
  })

  test('shows no value of the vault in names and details', async () => {
    const tenant = await newTenant(database)
    await setVaultSecret(tenant, { name: 'TOKEN', value: 'tok-4711-secret' })
    const { id } = await createWorkflow(tenant, { name: 'Uses tok-4711-secret' })
    await updateWorkflow(tenant, { id, body: { name: 'Still tok-4711-secret' } })
    const csv = await auditAnswer(tenant, { format: 'csv' }, new Request('http://localhost/api/audit'))
    for (const shown of [JSON.stringify(await listAudit(tenant, {})), Buffer.from(csv.body as Uint8Array).toString()]) {
      expect(shown).toContain('Uses ***')
      expect(shown).not.toContain('4711')
    }
  })

  test('is filtered by who, what, thing and time', async () => {
    expect(await actions({ actor: 'usr_ada' })).toEqual(['workflow.published', 'workflow.created'])
    expect(await actions({ actor: 'usr_ada', action: 'workflow.created' })).toEqual(['workflow.created'])
    expect(await actions({ thing: order })).toEqual(['workflow.published', 'workflow.created'])
    expect(new Set(await actions({ kind: 'apiKey' }))).toEqual(new Set(['apiKey.created']))
    const [first] = (await read({ thing: order, action: 'workflow.published' })).entries
    const at = first?.at ?? ''
    expect(await actions({ thing: order, from: at })).toEqual(['workflow.published'])
    expect(await actions({ thing: order, to: at })).toEqual(['workflow.created'])
    expect(await listAuditActors(ctx)).toEqual([
      { id: 'usr_ada', kind: 'user', name: 'Ada' },
      { id: 'key_owner', kind: 'apiKey', name: 'key_owner' },
    ])
  })

  test('is a file with one line per entry where the caller asks for CSV', async () => {
    for (const [query, headers] of [
      [{ format: 'csv', thing: order }, {}],
      [{ thing: order }, { accept: 'text/csv;q=1, */*;q=0.1' }],
    ] as const) {
      const request = new Request('http://localhost/api/audit', { headers })
      const answer = await auditAnswer(ctx, query, request)
      if (!(answer.body instanceof Uint8Array)) throw new Error('not a file')
      expect(answer).toHaveProperty('headers.content-type', 'text/csv; charset=utf-8')
      const lines = new TextDecoder().decode(answer.body).split('\r\n')
      expect(lines).toHaveLength(4)
      expect(lines[0]).toMatch(/^id,at,actorKind/)
      // A spreadsheet must not evaluate it.
      expect(lines[1]).toContain(`,workflow.published,workflow,${order},'=Order,`)
    }
    const json = new Request('http://localhost/api/audit', { headers: { accept: 'text/csv' } })
    expect(await auditAnswer(ctx, { format: 'json' }, json)).toHaveProperty('body.entries')
  })

  test('is for admins and owners, and refuses unknown parameters', async () => {
    await expect(read({}, withRole(ctx, 'editor'))).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect((await read({}, withRole(ctx, 'admin'))).entries).not.toEqual([])
    for (const query of [{ action: 'workflow.stolen' }, { from: 'yesterday' }, { cursor: 'x' }, { limit: '0' }])
      await expect(read(query)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  })
})
