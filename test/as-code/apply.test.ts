import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { updateAgent } from '@/server/agents/lifecycle'
import { createThread } from '@/server/agents/thread'
import { applyDefinitions } from '@/server/as-code/apply'
import { diffDefinitions } from '@/server/as-code/diff'
import { exportDefinitions } from '@/server/as-code/export'
import { holdAll } from '@/server/as-code/tasks'
import { type ServiceContext, withTransaction } from '@/server/context'
import { startRun } from '@/server/runs/start'
import { keepRuns } from '@/server/tenants/keep-runs'
import { updateTool } from '@/server/tools/lifecycle'
import { deleteWorkflowPermanently } from '@/server/workflows/delete-permanently'
import {
  archiveWorkflow,
  createWorkflow,
  getWorkflow,
  getWorkflowVersion,
  publishWorkflow,
  updateWorkflow,
} from '@/server/workflows/lifecycle'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { fingerprint } from '../support/fingerprint'
import { newTenant, withRole } from '../support/tenant'
import { refusal } from '../workflows/support'
import { agent, http, tool, workflow, workspace } from './support'

process.env.ENCRYPTION_KEY = 'ab'.repeat(32)

let database: FreshDatabase
beforeAll(async () => {
  database = await freshDatabase()
})
afterAll(() => database.close())

const tenant = () => newTenant(database, 'editor')
const everything = (ctx: ServiceContext) => fingerprint(database.sql, ctx.tenantId)
const done = ({ changes }: { changes: { id: string; actions: string[] }[] }) =>
  Object.fromEntries(changes.map(({ id, actions }) => [id, actions.join(' ')]))

/** The transaction that last wrote each row, and any that has locked it since. */
async function touched(ctx: ServiceContext): Promise<string> {
  const tables = ['workflows', 'workflow_versions', 'agents', 'agent_versions', 'tools', 'tool_versions']
  const all = await Promise.all(
    [...tables, 'applied_definitions'].map((table) =>
      database.sql.unsafe(`select ctid, xmin, xmax from ${table} where tenant_id = $1 order by ctid`, [ctx.tenantId]),
    ),
  )
  return JSON.stringify(all)
}

describe('apply', () => {
  test('creates and publishes definitions that use each other, and a second apply of 50 workflows touches no row', async () => {
    const ctx = await tenant()
    const workflows = Array.from({ length: 50 }, (_, n) =>
      workflow(
        `wf_${n}`,
        n === 0 ? {} : { steps: [{ id: 'run', type: 'run-workflow', workflowId: `wf_${n - 1}` }], edges: [] },
      ),
    )
    const body = { ...workspace(workflows.reverse()), publish: true }
    const first = await applyDefinitions(ctx, body)
    expect([first.changes.length, first.unchanged]).toEqual([53, 0])
    expect(new Set(Object.values(done(first)))).toEqual(new Set(['create publish']))
    expect(await getWorkflow(ctx, { id: 'wf_9' })).toMatchObject({ status: 'published', updatedBy: 'key_editor' })
    const before = await touched(ctx)
    expect(await applyDefinitions(ctx, body)).toEqual({ changes: [], unchanged: 53, warnings: [] })
    expect(await touched(ctx)).toBe(before)
  })

  test('takes up newer versions of a workflow’s dependencies, once, even where workflows run each other', async () => {
    const ctx = await tenant()
    const runs = (id: string, other: string) =>
      workflow(id, {
        steps: [
          { id: 'clean', type: 'call-tool', toolId: 'tool_clean', args: {} },
          { id: 'run', type: 'run-workflow', workflowId: other },
        ],
        edges: [{ from: 'clean', to: 'run' }],
      })
    const body = (code: string) => ({
      workflows: [runs('wf_a', 'wf_b'), runs('wf_b', 'wf_a')],
      tools: [tool(code)],
      publish: true,
    })
    await applyDefinitions(ctx, body('return 1'))
    const renewed = await applyDefinitions(ctx, body('return 2'))
    expect(done(renewed)).toEqual({ tool_clean: 'update publish', wf_a: 'publish', wf_b: 'publish' })
    const { pins } = await getWorkflowVersion(ctx, { id: 'wf_a', version: 'published' })
    expect(pins).toMatchObject({ clean: { version: 2 } })
    expect((await applyDefinitions(ctx, body('return 2'))).changes).toEqual([])
  })

  test('is all or nothing, and names every definition that is wrong', async () => {
    const ctx = await tenant()
    const before = await everything(ctx)
    const broken = workflow('wf_broken', { edges: [{ from: 'clean', to: 'nowhere' }] })
    const lost = workflow('wf_lost', {
      steps: [{ id: 'x', type: 'call-tool', toolId: 'tool_nobody', args: {} }],
      edges: [],
    })
    const refused = await refusal(
      applyDefinitions(ctx, { ...workspace([workflow('wf_fine'), broken, lost]), publish: true }),
    )
    expect(refused.code).toBe('VALIDATION_FAILED')
    expect(refused.details).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ path: 'workflows[1]', kind: 'workflow', id: 'wf_broken', code: 'DANGLING_EDGE' }),
        expect.objectContaining({ path: 'workflows[2]', kind: 'workflow', id: 'wf_lost', stepId: 'x' }),
      ]),
    )
    const misspelt = await refusal(
      applyDefinitions(ctx, { workflows: [workflow('wf_x', { stpes: [] })], tools: [tool(), tool()] }),
    )
    expect(misspelt.details).toMatchObject([
      { path: 'workflows[0]', id: 'wf_x', message: expect.stringContaining('stpes') },
    ])
    const twice = await refusal(applyDefinitions(ctx, { tools: [tool(), tool(), { ...tool(), id: 'tool_read_file' }] }))
    expect(twice.details.map(({ path, message }) => `${path} ${message}`)).toEqual([
      'tools[1].id is given twice',
      'tools[2].id is a built-in tool',
    ])
    expect(await everything(ctx)).toBe(before)
  })

  test('refuses objects that another person changed, unless forced or already as defined', async () => {
    const ctx = await tenant()
    const body = workspace([workflow('wf_one'), workflow('wf_two')])
    await applyDefinitions(ctx, body)
    const person = { ...ctx, actor: { kind: 'apiKey', id: 'key_person', role: 'editor' } } as const
    await updateWorkflow(person, { id: 'wf_one', body: { name: 'By hand' } })
    await updateAgent(person, { id: 'agt_helper', body: { name: 'By hand' } })

    const before = await everything(ctx)
    const next = { ...body, workflows: [workflow('wf_one'), workflow('wf_two', { name: 'New' })] }
    const refused = await refusal(applyDefinitions(ctx, next))
    expect([refused.code, refused.status]).toEqual(['DEFINITIONS_DRIFTED', 409])
    expect(refused.details).toMatchObject([
      { kind: 'agent', id: 'agt_helper', message: expect.stringContaining('key_person') },
      { kind: 'workflow', id: 'wf_one', message: expect.stringContaining('(version 1)') },
    ])
    expect(await everything(ctx)).toBe(before)

    // Once the files contain it, it is no longer drift, and neither are its consequences.
    const taken = { ...next, agents: [agent({ name: 'By hand' })] }
    const both = { ...taken, workflows: [workflow('wf_one', { name: 'By hand' }), ...taken.workflows.slice(1)] }
    expect(done(await applyDefinitions(ctx, both))).toEqual({ wf_two: 'update' })
    const back = { ...both, workflows: body.workflows }
    expect(done(await applyDefinitions(ctx, back))).toEqual({ wf_one: 'update', wf_two: 'update' })

    await updateWorkflow(person, { id: 'wf_one', body: { name: 'Again' } })
    expect(done(await applyDefinitions(ctx, { ...back, force: true }))).toEqual({ wf_one: 'update' })
    // A change that was undone is not drift.
    await updateWorkflow(person, { id: 'wf_one', body: { name: 'Again' } })
    await updateWorkflow(person, { id: 'wf_one', body: { name: 'Workflow wf_one' } })
    expect((await applyDefinitions(ctx, back)).changes).toEqual([])
  })

  test('refuses objects that were never applied, and archived ones', async () => {
    const ctx = await tenant()
    const { id } = await createWorkflow(ctx, { name: 'By hand' })
    const over = { workflows: [workflow(id)], agents: [agent()], tools: [tool()] }
    expect((await refusal(applyDefinitions(ctx, over))).details).toMatchObject([
      { id, message: expect.stringContaining('never applied') },
    ])
    expect(done(await applyDefinitions(ctx, { ...over, force: true }))).toMatchObject({ [id]: 'update' })
    await archiveWorkflow(ctx, { id })
    expect((await refusal(applyDefinitions(ctx, over))).details).toMatchObject([
      { id, message: expect.stringContaining('archived') },
    ])
    expect(done(await applyDefinitions(ctx, { ...over, force: true }))).toEqual({ [id]: 'unarchive' })
  })

  test('prune archives applied objects without a definition, and nothing else', async () => {
    const ctx = await tenant()
    const mine = await createWorkflow(ctx, { name: 'By hand' })
    const both = workspace([workflow('wf_one'), workflow('wf_two')])
    await applyDefinitions(ctx, { ...both, publish: true })
    const one = workspace([workflow('wf_one')])
    expect((await applyDefinitions(ctx, one)).changes).toEqual([])
    expect(done(await applyDefinitions(ctx, { ...one, prune: true }))).toEqual({ wf_two: 'archive' })
    expect((await applyDefinitions(ctx, { ...one, prune: true })).changes).toEqual([])
    expect([(await getWorkflow(ctx, { id: 'wf_two' })).status, (await getWorkflow(ctx, mine)).status]).toEqual([
      'archived',
      'draft',
    ])
    expect(done(await applyDefinitions(ctx, { ...both, publish: true }))).toEqual({ wf_two: 'unarchive publish' })

    await updateWorkflow(ctx, { id: 'wf_two', body: { name: 'By hand' } })
    expect((await refusal(applyDefinitions(ctx, { ...one, prune: true }))).code).toBe('DEFINITIONS_DRIFTED')
    expect(done(await applyDefinitions(ctx, { ...one, prune: true, force: true }))).toEqual({
      wf_two: 'archive',
      [mine.id]: 'archive',
    })
    const used = await refusal(applyDefinitions(ctx, { ...one, tools: [one.tools[0]], prune: true } as never))
    expect(used.details.map(({ id, message }) => [id, message])).toEqual([
      ['agt_helper', 'It uses the tool tool_clean, which would be archived.'],
      ['wf_one', 'It uses the tool tool_clean, which would be archived.'],
    ])
    expect((await refusal(applyDefinitions(ctx, { prune: true }))).code).toBe('INVALID_INPUT')
  })

  test('refuses a body with a misspelt name, and to prune a kind without any definition', async () => {
    const ctx = await tenant()
    const body = workspace()
    await applyDefinitions(ctx, body)
    const { workflows, ...others } = body
    for (const misspelt of [
      { ...others, workflow: workflows, prune: true },
      { ...body, publsh: true },
    ])
      expect(await refusal(applyDefinitions(ctx, misspelt as never))).toMatchObject({
        code: 'INVALID_INPUT',
        details: [{ message: expect.stringMatching(/no field (workflow|publsh)/) }],
      })
    const some = { ...others, prune: true }
    const refused = await refusal(applyDefinitions(ctx, some))
    expect(refused.details).toMatchObject([
      { kind: 'workflow', id: 'wf_one', message: expect.stringContaining('force') },
    ])
    expect((await diffDefinitions(ctx, some)).problems).toMatchObject([{ id: 'wf_one' }])
    expect(done(await applyDefinitions(ctx, { ...some, force: true }))).toEqual({ wf_one: 'archive' })
    const whole = await exportDefinitions(ctx, {})
    expect((await applyDefinitions(ctx, whole as never)).changes).toEqual([])
    expect((await refusal(applyDefinitions(ctx, { ...whole, next: 'tools/x' } as never))).details).toMatchObject([
      { path: 'next' },
    ])
  })

  test('prune warns about published objects that stay and use archived ones', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, { ...workspace(), publish: true })
    const uses = [{ id: 'c', type: 'call-tool', toolId: 'tool_clean', args: {} }]
    const mine = await createWorkflow(ctx, { name: 'By hand', steps: uses })
    const body = {
      tools: [http],
      agents: [agent({ tools: [] })],
      workflows: [workflow('wf_two', { steps: [], edges: [] })],
      prune: true,
    }
    expect((await diffDefinitions(ctx, body)).warnings).toEqual([])
    await publishWorkflow(ctx, mine)
    const { changes, warnings } = await diffDefinitions(ctx, body)
    expect(done({ changes })).toMatchObject({ tool_clean: 'archive', wf_one: 'archive' })
    expect(warnings).toMatchObject([{ kind: 'workflow', id: mine.id, message: expect.stringContaining('tool_clean') }])
  })

  test('two at once create each object once', async () => {
    const ctx = await tenant()
    const body = { ...workspace(), publish: true }
    const both = await Promise.all([applyDefinitions(ctx, body), applyDefinitions(ctx, body)])
    expect(both.map(({ changes }) => changes.length).sort()).toEqual([0, 4])
  })

  test('a concurrent save by another person is refused or comes after it, and is never lost', async () => {
    const ctx = await tenant()
    const named = (name: string) => ({ workflows: [workflow('wf_one', { name })] })
    await applyDefinitions(ctx, named('first'))
    for (let round = 1; round <= 15; round++) {
      const [applied, saved] = await Promise.all([
        applyDefinitions(ctx, named(`applied ${round}`)).catch((err) => err.code as string),
        updateWorkflow(ctx, { id: 'wf_one', body: { name: `by hand ${round}` } }),
      ])
      expect((await getWorkflow(ctx, { id: 'wf_one' })).name).toBe(`by hand ${round}`)
      if (typeof applied === 'string') expect(applied).toBe('DEFINITIONS_DRIFTED')
      else expect(saved.version).toBeGreaterThan(applied.changes[0]?.version ?? 0)
      await applyDefinitions(ctx, { ...named('first'), force: true })
    }
  })

  test('an object that is saved all the time is examined and applied nevertheless', async () => {
    const ctx = await tenant()
    const named = (name: string) => ({ workflows: [workflow('wf_one', { name })], tools: [tool()], force: true })
    await applyDefinitions(ctx, named('first'))
    let saves = 0
    let done = false
    const saving = Array.from({ length: 4 }, async () => {
      while (!done) await updateWorkflow(ctx, { id: 'wf_one', body: { name: `by hand ${++saves}` } })
    })
    try {
      for (let round = 1; round <= 10; round++) {
        const { changes } = await diffDefinitions(ctx, named(`wanted ${round}`))
        expect(changes.map(({ id }) => id)).toEqual(['wf_one'])
        expect((await applyDefinitions(ctx, named(`wanted ${round}`))).changes).toHaveLength(1)
      }
    } finally {
      done = true
      await Promise.all(saving)
    }
    expect(saves).toBeGreaterThan(10)
  })

  test('while it holds the whole workspace, people still talk with its agents', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, { agents: [agent()], tools: [tool()] })
    await withTransaction(ctx, async (tx) => {
      await holdAll(tx, [], true)
      expect(await createThread(ctx, 'agt_helper')).toMatch(/^thr_/)
    })
  })

  test('never writes to an object archived meanwhile, and blocks nothing else of the workspace', async () => {
    const ctx = await tenant()
    const owner = withRole(ctx, 'owner')
    const body = (code: string, name: string) => ({
      ...workspace([workflow('wf_one', { name }), workflow('wf_two')]),
      tools: [http, tool(code)],
    })
    await applyDefinitions(ctx, body('return 1', 'Old'))
    const { applying } = await database.sql.begin(async (sql) => {
      // The apply has checked everything when it waits for this row.
      await sql`select 1 from tools where tenant_id = ${ctx.tenantId} and id = 'tool_clean' for update`
      const applying = refusal(applyDefinitions(ctx, { ...body('return 2', 'New'), publish: true }))
      const waiting = () =>
        database.sql`select 1 from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`
      await expect.poll(async () => (await waiting()).length).toBe(1)
      for (const id of ['wf_one', 'wf_two']) await archiveWorkflow(owner, { id })
      await keepRuns(owner, { days: 30 })
      return { applying }
    })
    const refused = await applying
    expect([refused.code, refused.details.map(({ id }) => id)]).toEqual(['DEFINITIONS_DRIFTED', ['wf_one', 'wf_two']])
    expect(await getWorkflow(ctx, { id: 'wf_one' })).toMatchObject({ status: 'archived', name: 'Old', version: 1 })
  })

  test('refuses ids that differ only in case, unless the other one goes', async () => {
    const ctx = await tenant()
    const both = await refusal(applyDefinitions(ctx, { tools: [tool(), { ...tool(), id: 'TOOL_clean' }] }))
    expect(both.details).toMatchObject([
      { path: 'tools[1].id', message: 'TOOL_clean differs from tool_clean only in case' },
    ])
    await applyDefinitions(ctx, { tools: [tool()] })
    const other = { tools: [{ ...tool(), id: 'TOOL_clean' }] }
    expect((await refusal(applyDefinitions(ctx, other))).details).toMatchObject([
      { path: 'tools[0].id', message: expect.stringMatching(/tool_clean .* TOOL_clean only in case/) },
    ])
    expect(done(await applyDefinitions(ctx, { ...other, prune: true }))).toEqual({
      TOOL_clean: 'create',
      tool_clean: 'archive',
    })
  })

  test('an id whose workflow was deleted for good continues its version numbers', async () => {
    const ctx = await tenant()
    const owner = withRole(ctx, 'owner')
    const steps = [{ id: 'ask', type: 'collect-inputs', output: { a: { type: 'string' } } }]
    const body = { workflows: [workflow('wf_one', { steps, edges: [] })], publish: true }
    await applyDefinitions(ctx, body)
    await startRun(owner, { workflowId: 'wf_one', body: { z: 'x', a: 1 } })
    await archiveWorkflow(ctx, { id: 'wf_one' })
    await deleteWorkflowPermanently(owner, { id: 'wf_one', query: { terminateRuns: 'true' } })
    const again = await applyDefinitions(ctx, body)
    expect(again.changes).toMatchObject([{ actions: ['create', 'publish'], version: 2 }])
  })

  test.each(['viewer', 'operator'] as const)('is refused to a %s, and so is diff', async (role) => {
    const ctx = await newTenant(database, role)
    expect((await refusal(applyDefinitions(ctx, workspace()))).code).toBe('FORBIDDEN')
    expect((await refusal(diffDefinitions(ctx, workspace()))).code).toBe('FORBIDDEN')
  })
})

test('a limited token may do none of it', async () => {
  const reach = { workflowIds: ['wf_one'], agentIds: null, ownRuns: false }
  const ctx = { ...(await tenant()), reach }
  for (const call of [exportDefinitions, diffDefinitions, applyDefinitions])
    expect((await refusal(call(ctx, {}))).code).toBe('FORBIDDEN')
})

describe('diff', () => {
  test('reports the changes of an apply, and makes none', async () => {
    const ctx = await tenant()
    await applyDefinitions(ctx, workspace())
    await updateTool(ctx, { id: 'tool_orders', body: { name: 'By hand' } })
    const body = {
      ...workspace([workflow('wf_one', { name: 'New' }), workflow('wf_new', { edges: [{ from: 'a', to: 'b' }] })]),
      publish: true,
    }
    const before = await everything(ctx)
    const found = await diffDefinitions(ctx, body)
    expect(done(found)).toMatchObject({
      tool_clean: 'publish',
      tool_orders: 'update publish',
      wf_one: 'update publish',
    })
    expect(found.changes.find(({ id }) => id === 'wf_one')).toMatchObject({
      name: 'New',
      version: 2,
      before: { name: 'Workflow wf_one' },
      after: { name: 'New' },
    })
    expect(found.drift).toMatchObject([{ id: 'tool_orders' }])
    expect(found.problems).toMatchObject([{ id: 'wf_new', code: 'DANGLING_EDGE' }, {}])
    expect(await everything(ctx)).toBe(before)
  })
})
