import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { createInbound } from '@/server/inbound/save'
import { createStartLink } from '@/server/links/start/create'
import { revokeStartLink } from '@/server/links/start/revoke'
import { startRun } from '@/server/runs/start'
import { createSchedule } from '@/server/schedules/save'
import { setVaultSecret } from '@/server/vault/set'
import { readCallers } from '@/server/views/workflows/callers'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { newMember } from '../../members/people'
import { type FreshDatabase, freshDatabase } from '../../support/db'
import { newTenant } from '../../support/tenant'
import { outcome } from '../../workflows/support'

let database: FreshDatabase
let owner: ServiceContext
let stranger: ServiceContext
beforeAll(async () => {
  database = await freshDatabase()
  owner = await newTenant(database)
  stranger = await newTenant(database)
})
afterAll(() => database.close())

const END = { steps: [{ id: 'end', type: 'end-flow', output: {} }], initialStep: 'end', edges: [] }
const NOBODY = { parents: [], schedules: [], inbound: [], links: [], recent: [] }

async function published(name: string, definition: object): Promise<string> {
  const { id } = await createWorkflow(owner, { name, ...definition } as never)
  await publishWorkflow(owner, { id })
  return id
}

test('a publication says who and what starts the workflow: parents, schedules, inbound webhooks, and who called it', async () => {
  const id = await published('Child', END)
  expect(await readCallers(owner, { id })).toEqual(NOBODY)

  const calls = (version?: number) => ({
    ...{ initialStep: 'call', edges: [] },
    steps: [{ id: 'call', type: 'run-workflow', workflowId: id, ...(version ? { version } : {}) }],
  })
  await published('Zeta, by name', calls(1))
  await published('Alpha', calls())
  // Nobody runs a draft.
  await createWorkflow(owner, { name: 'Draft', ...calls() } as never)
  await setVaultSecret(owner, { name: 'PASS', value: 'swordfish_8472' })
  await createSchedule(owner, {
    workflowId: id,
    body: { name: 'Hourly swordfish_8472', cron: '0 * * * *', enabled: false },
  })
  await createInbound(owner, { workflowId: id, body: { name: 'Issues', scheme: 'github' } })
  const key = await createApiKey(owner, { name: 'Shop', role: 'operator' })
  const shop: ServiceContext = { ...owner, actor: { kind: 'apiKey', id: key.id, role: 'operator' } }
  for (let times = 0; times < 2; times++) await startRun(shop, { workflowId: id, body: {} })

  const seen = await readCallers(owner, { id })
  expect(seen.parents).toEqual([
    { kind: 'workflow', id: expect.any(String), name: 'Alpha', keepsTo: 1, keepsNumber: 1, pinned: true },
    { kind: 'workflow', id: expect.any(String), name: 'Zeta, by name', keepsTo: 1, keepsNumber: 1, pinned: false },
  ])
  expect(seen.schedules).toEqual([{ id: expect.stringMatching(/^sch_/), name: 'Hourly ***', enabled: false }])
  expect(seen.inbound).toEqual([{ id: expect.stringMatching(/^inb_/), name: 'Issues', enabled: true }])
  expect(seen.recent).toEqual([
    { id: key.id, kind: 'apiKey', name: 'Shop', runs: 2, lastAt: expect.stringMatching(/^\d{4}-/) },
  ])

  // Callers of an earlier version get the next one too, unless that was long ago.
  await updateWorkflow(owner, { id, body: { description: 'Changed' } as never })
  await publishWorkflow(owner, { id })
  await startRun(shop, { workflowId: id, body: {} })
  expect((await readCallers(owner, { id })).recent).toMatchObject([{ name: 'Shop', runs: 3 }])
  await database.sql`update runs set start_time = start_time - interval '31 days' where workflow_version = 1 and workflow_id = ${id}`
  expect((await readCallers(owner, { id })).recent).toMatchObject([{ name: 'Shop', runs: 1 }])
  expect(await outcome(readCallers(stranger, { id }))).toBe('WORKFLOW_NOT_FOUND')
})

test('a publication lists the start links that work, with their labels and makers', async () => {
  const id = await published('With a form', END)
  const tess = await newMember(database, owner, 'operator')
  const leaver = await newMember(database, owner, 'operator')
  const make = (by: ServiceContext, body: object) => createStartLink(by, { workflowId: id, body, origin: '' })
  const working = await make(tess.ctx, { label: 'On the website' })
  const revoked = await make(tess.ctx, {})
  await revokeStartLink(tess.ctx, { workflowId: id, linkId: revoked.id })
  const expired = await make(tess.ctx, {})
  await database.sql`update start_links set expires_at = now() - interval '1 minute' where id = ${expired.id}`
  await make(leaver.ctx, { label: 'Of somebody who has left' })
  await database.sql`delete from members where user_id = ${leaver.userId}`
  // However many links have ended since, those that work are listed.
  await database.sql`
    insert into start_links (tenant_id, id, workflow_id, maker_kind, maker_id, expires_at, revoked_at, created_at)
    select ${owner.tenantId}, 'stl_ended_' || n, ${id}, 'user', ${tess.userId}, now() + interval '1 day', now(),
      now() + interval '1 minute' from generate_series(1, 1001) n`
  const { links } = await readCallers(owner, { id })
  expect(links).toEqual([
    { id: working.id, label: 'On the website', madeBy: expect.any(String), expiresAt: working.expiresAt },
  ])
  expect(links[0]?.madeBy).not.toBe(tess.userId)
})
