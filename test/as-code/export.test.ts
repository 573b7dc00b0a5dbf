import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { applyDefinitions } from '@/server/as-code/apply'
import { exportDefinitions } from '@/server/as-code/export'
import type { ServiceContext } from '@/server/context'
import { setVaultSecret } from '@/server/vault/set'
import { archiveWorkflow, createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { fingerprint } from '../support/fingerprint'
import { newTenant, withRole } from '../support/tenant'
import { workspace } from './support'

process.env.ENCRYPTION_KEY = 'ab'.repeat(32)

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const tenant = () => newTenant(database, 'editor')
const everything = (ctx: ServiceContext) => fingerprint(database.sql, ctx.tenantId)

describe('export', () => {
  test('is valid input of apply, with names in one order, references kept and no secret', async () => {
    const ctx = await tenant()
    await setVaultSecret(withRole(ctx, 'owner'), {
      name: 'ORDERS',
      value: 'kept-in-the-vault',
      hosts: ['api.example.com'],
    })
    await applyDefinitions(ctx, workspace())
    const written = await exportDefinitions(ctx, {})
    const text = JSON.stringify(written)
    expect(text).not.toContain('kept-in-the-vault')
    expect(text).toContain('Bearer ${secrets.ORDERS}')
    expect(Object.keys(written.workflows[0] ?? {})).toEqual(['id', 'name', 'payload', 'initialStep', 'steps', 'edges'])
    expect(JSON.stringify(written.workflows[0]?.steps)).toContain('{"id":"clean","type":"call-tool","toolId"')
    expect(Object.keys(Object(written.workflows[0]?.payload))).toEqual(['z', 'a'])
    const { next, ...body } = written
    expect(next).toBe(null)
    expect((await applyDefinitions(ctx, body)).changes).toEqual([])
    const elsewhere = await tenant()
    const here = await everything(ctx)
    await applyDefinitions(elsewhere, { ...body, force: true, prune: true })
    expect(await everything(ctx)).toBe(here)
    expect(JSON.stringify(await exportDefinitions(elsewhere, {}))).toBe(text)
    const some = await exportDefinitions(ctx, { kind: 'tools', after: 'tools/tool_clean' })
    expect([some.tools.map(({ id }) => id), some.workflows, some.agents]).toEqual([['tool_orders'], [], []])
  })

  test('ends a page before it is too large, and the pages together are everything, sorted', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, workspace([]))
    const large = { id: 'data', type: 'set-data', data: { a: 'x'.repeat(900_000) } }
    for (let n = 0; n < 4; n++) await createWorkflow(ctx, { name: `Large ${n}`, steps: [large] })
    const pages = [await exportDefinitions(ctx, {})]
    for (let page = pages[0]; page?.next; pages.push(page)) page = await exportDefinitions(ctx, { after: page.next })
    expect(pages.map(({ tools, agents, workflows }) => [tools.length, agents.length, workflows.length])).toEqual([
      [2, 1, 3],
      [0, 0, 1],
    ])
    for (const page of pages) expect(JSON.stringify(page).length).toBeLessThan(3.2 * 1024 * 1024)
    const ids = pages.flatMap(({ workflows }) => workflows.map(({ id }) => id))
    expect(ids).toEqual([...new Set(ids)].sort())
    const { next } = await exportDefinitions(ctx, { after: `workflows/${ids[0]}` })
    expect(next).toBe(null)
  })

  test('leaves out archived objects, and shows drafts rather than published versions', async () => {
    const ctx = await tenant()
    const { id } = await createWorkflow(ctx, { name: 'First', steps: [{ id: 'end', type: 'end-flow' }] })
    await publishWorkflow(ctx, { id })
    await updateWorkflow(ctx, { id, body: { name: 'Second' } })
    expect((await exportDefinitions(ctx, {})).workflows).toMatchObject([{ id, name: 'Second' }])
    await archiveWorkflow(ctx, { id })
    expect((await exportDefinitions(ctx, {})).workflows).toEqual([])
  })
})
