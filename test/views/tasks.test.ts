import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { explain, readRoots, recorded } from '@/bench/scale/plans'
import { createMember } from '@/server/members/create'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { terminateRun } from '@/server/runs/terminate'
import { getRunOverview } from '@/server/views/runs/overview'
import { countTasks, countViews } from '@/server/views/tasks/count'
import { getTask } from '@/server/views/tasks/get'
import { listTasks } from '@/server/views/tasks/list'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startEffects } from '../support/effects'
import { forge } from '../support/invariants/finality'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
})

afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

const form = {
  name: 'Form',
  payload: { order: { type: 'string' } },
  steps: [{ id: 'ask', type: 'collect-inputs', title: 'Order ${order}', output: { n: { type: 'number' } } }],
}
const choice = {
  name: 'Choice',
  steps: [{ id: 'ask', type: 'request-user-action', name: 'The choice', actions: [{ id: 'yes', label: 'Yes' }] }],
}

async function paused(definition: object, data = {}): Promise<string> {
  const runId = await runtime.start(definition, data)
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}

const PAUSE = 'main:ask#1'

describe('tasks', () => {
  it('are the open pauses, page by page in either order', async () => {
    const made: string[] = []
    for (let index = 0; index < 5; index++) {
      made.push(await paused(index % 2 ? choice : form, index % 2 ? {} : { order: `A${index}` }))
    }
    for (const [sort, expected] of [
      ['oldest', made],
      ['newest', made.toReversed()],
    ] as const) {
      const seen: string[] = []
      // The first page has no cursor, which has become null in the prefetched JSON.
      let cursor: string | null = null
      do {
        const page = await listTasks(runtime.ctx, { sort, limit: 2, cursor })
        seen.push(...page.tasks.map((task) => task.runId))
        cursor = page.nextCursor
      } while (cursor)
      expect(seen).toEqual(expected)
    }
    const [first] = (await listTasks(runtime.ctx, { type: 'collect_inputs' })).tasks
    expect(first).toMatchObject({ pauseId: PAUSE, title: 'Order A0', workflowName: 'Form', summary: [['order', 'A0']] })
    expect((await listTasks(runtime.ctx, { workflowId: first?.workflowId })).tasks).toHaveLength(1)
    expect((await listTasks(runtime.ctx, { type: 'request_user_action' })).tasks[0]).toMatchObject({
      title: 'The choice',
    })
    expect(await countTasks(runtime.ctx, undefined)).toEqual({ count: 5, more: false })
    expect(await countTasks(runtime.ctx, { type: 'request_user_action' })).toEqual({ count: 2, more: false })
  })

  it('of a run that is being cancelled are nobody’s to do, while it waits for a running step', async () => {
    let stepMayEnd = () => {}
    const after = new Promise<void>((done) => {
      stepMayEnd = done
    })
    const effects = await startEffects(() => ({ after }))
    try {
      const runId = await paused({
        steps: [
          { id: 'both', type: 'parallel', branches: [{ id: 'left' }, { id: 'right' }] },
          { id: 'work', type: 'test-effect', url: effects.url },
          { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
        ],
        edges: [
          { from: 'both', to: 'work', on: 'left' },
          { from: 'both', to: 'ask', on: 'right' },
        ],
      })
      await expect.poll(() => effects.seen.length).toBe(1)
      const mine = async () => (await listTasks(runtime.ctx, {})).tasks.filter((task) => task.runId === runId)
      expect(await mine()).toHaveLength(1)
      await cancelRun(runtime.ctx, { runId })
      expect(await runtime.status(runId)).toMatchObject({ status: 'running' })
      expect(await mine()).toEqual([])
      stepMayEnd()
      expect(await runtime.wait(runId)).toMatchObject({ outcome: 'cancelled' })
    } finally {
      stepMayEnd()
      await effects.stop()
    }
  })

  it('show who answered them and when', async () => {
    const runId = await paused(form, { order: 'B' })
    expect(await getTask(runtime.ctx, { runId, pauseId: PAUSE })).toMatchObject({ status: 'open', answeredBy: null })
    const member = { email: 'tom@example.com', name: 'Tom', role: 'operator', password: 'a-long-password' }
    const { userId } = await createMember(runtime.ctx, member)
    const tom = {
      ...runtime.ctx,
      actor: { kind: 'user', id: userId, name: 'Tom', sessionId: 's', role: 'operator' },
    } as const
    await resumeRun(tom, { runId, body: { type: 'collect_inputs', pauseId: PAUSE, data: { n: 3 } } })
    expect(await getTask(runtime.ctx, { runId, pauseId: PAUSE })).toMatchObject({
      status: 'answered',
      answeredBy: { kind: 'user', name: 'Tom' },
      answeredAt: expect.any(String),
      answer: { value: { data: { n: 3 } } },
    })
    // A link may name the step instead.
    expect(await getTask(runtime.ctx, { runId, pauseId: 'ask' })).toMatchObject({ pauseId: PAUSE, status: 'answered' })
    const open = await listTasks(runtime.ctx, {})
    expect(open.tasks.map((task) => task.runId)).not.toContain(runId)
    // Only members have names here: an id must reveal nothing about people elsewhere.
    const foreign = await runtime.as('owner', 'ten_names')
    const { nameActors } = await import('@/server/views/actors')
    expect((await nameActors(foreign, [userId]))(userId)).toMatchObject({ name: 'a former member' })
  })

  it('say who may answer, who has voted and for what, and why a person may not', async () => {
    const actions = [
      { id: 'yes', label: 'Yes' },
      { id: 'no', label: 'No' },
    ]
    const asked = { assignees: ['user:kim@example.com', 'user:bob', 'role:admin'], needs: { yes: 3 }, dueIn: 'P1D' }
    const own = await paused({
      steps: [{ id: 'ask', type: 'request-user-action', actions, ...asked, noSelfApproval: true }],
    })
    for (const view of ['mine', 'roles'] as const) {
      const { tasks } = await listTasks(runtime.ctx, { view })
      expect(tasks.map((task) => task.runId)).not.toContain(own)
    }
    expect((await getTask(runtime.ctx, { runId: own, pauseId: PAUSE })).people.bar).toBe('SELF_APPROVAL')
    const vote = { name: 'Vote', steps: [{ id: 'ask', type: 'request-user-action', actions, ...asked }] }
    const runId = await paused(vote)
    const kim = await createMember(runtime.ctx, {
      ...{ email: 'kim@example.com', name: 'Kim', role: 'operator', password: 'a-long-password' },
    })
    const as = (id: string, role: 'operator' | 'admin') =>
      ({ ...runtime.ctx, actor: { kind: 'user', id, name: id, sessionId: 's', role } }) as const
    const [invited, boss, other] = [as(kim.userId, 'operator'), as('usr_boss', 'admin'), as('usr_other', 'operator')]
    const seen = async (ctx: typeof other) => {
      const inView = async (view: 'mine' | 'roles') =>
        (await listTasks(ctx, { view })).tasks.filter((task) => task.runId === runId).length
      const { people } = await getTask(ctx, { runId, pauseId: PAUSE })
      return [await inView('mine'), await inView('roles'), people.bar]
    }
    expect(await Promise.all([invited, boss, other].map(seen))).toEqual([
      [1, 0, null],
      [0, 1, null],
      [0, 0, 'NOT_ASSIGNED'],
    ])
    for (const ctx of [invited, boss, other]) {
      const counts = await countViews(ctx, {})
      for (const view of ['open', 'mine', 'roles'] as const) {
        const { tasks } = await listTasks(ctx, { view, limit: 100 })
        expect(counts[view], `${ctx.actor.name}: ${view}`).toEqual({ count: tasks.length, more: false })
      }
    }
    const body = { type: 'request_user_action', pauseId: PAUSE, actionId: 'yes' }
    await resumeRun(invited, { runId, body: { ...body, actionValue: 'gladly' } })
    expect(await seen(invited)).toEqual([0, 0, 'ALREADY_VOTED'])
    const votes = [
      { by: kim.userId, name: 'Kim', label: 'Yes', value: 'gladly', data: null, via: null, at: expect.any(String) },
    ]
    const people = {
      assignees: ['Kim', 'bob', 'anybody with the role admin or higher'],
      votes,
      needs: [
        { label: 'Yes', votes: 3, cast: 1 },
        { label: 'No', votes: 1, cast: 0 },
      ],
      voters: null,
      bar: null,
    }
    expect((await getTask(boss, { runId, pauseId: PAUSE })).people).toEqual(people)
    expect((await getRunOverview(boss, { runId })).pauses).toMatchObject([{ people }])
    const item = (await listTasks(boss, {})).tasks.find((task) => task.runId === runId)
    expect(item).toMatchObject({ votes: { cast: 1, label: 'Yes', votes: 1, of: 3 }, dueAt: expect.any(String) })
    await resumeRun(boss, { runId, body })
    await resumeRun(runtime.ctx, { runId, body: { ...body, answeredBy: 'bob' } })
    await runtime.wait(runId)
    expect((await getTask(boss, { runId, pauseId: PAUSE })).people.votes?.at(-1)).toMatchObject({
      ...{ by: 'bob', via: 'a deleted API key' },
    })
    const done = await listTasks(invited, { view: 'done', byMe: true })
    expect(done.tasks).toMatchObject([{ runId, answeredBy: { name: 'bob' }, label: 'Yes' }])
    const { answers } = await getRunOverview(boss, { runId })
    expect(answers).toMatchObject([{ votes: { cast: 3, names: ['Kim', 'usr_boss', 'bob'] } }])
  })

  it('say of how many named people how many voted', async () => {
    const people = { assignees: ['user:ann', 'user:ben', 'user:cid'], needs: { yes: 2, no: 2 }, expiresIn: 'P1D' }
    const actions = [
      { id: 'no', label: 'No' },
      { id: 'yes', label: 'Yes' },
    ]
    const runId = await paused({ steps: [{ id: 'ask', type: 'request-user-action', actions, ...people }] })
    const body = { type: 'request_user_action', pauseId: PAUSE, actionId: 'yes', answeredBy: 'ann' }
    await resumeRun(runtime.ctx, { runId, body })
    expect((await getTask(runtime.ctx, { runId, pauseId: PAUSE })).people).toMatchObject({
      ...{ voters: 3, votes: [{ by: 'ann' }] },
      needs: [
        { label: 'No', votes: 2, cast: 0 },
        { label: 'Yes', votes: 2, cast: 1 },
      ],
    })
    const item = (await listTasks(runtime.ctx, {})).tasks.find((task) => task.runId === runId)
    expect(item?.votes).toEqual({ cast: 1, label: 'Yes', votes: 1, of: 2 })
  })

  it('show the card that the author chose, and sum it up in the list', async () => {
    const show = [
      { label: 'Order', value: '${order}' },
      { label: 'Lines', value: ['a', 'b'] },
      { label: 'Notes', value: '**big**', markdown: true },
      { label: 'Paid', value: true },
    ]
    const runId = await paused({ ...form, steps: [{ ...form.steps[0], show }] }, { order: 'Z-9' })
    const task = await getTask(runtime.ctx, { runId, pauseId: PAUSE })
    expect(task.signal.show).toEqual([{ label: 'Order', value: 'Z-9' }, ...show.slice(1)])
    const item = (await listTasks(runtime.ctx, {})).tasks.find((found) => found.runId === runId)
    expect(item?.summary).toEqual([
      ['Order', 'Z-9'],
      ['Paid', 'true'],
    ])
  })

  it('have their data in declaration order, with its labels, and undeclared fields last', async () => {
    const fields = { quantity: { type: 'number', label: 'How many' }, of: { type: 'string' } }
    const steps = [
      { id: 'set', type: 'set-data', values: { a: 1 } },
      { id: 'form', type: 'collect-inputs', output: fields },
      choice.steps[0],
      { id: 'end', type: 'end-flow', output: { quantity: '${quantity}', of: '${of}' } },
    ]
    const edges = [
      { from: 'set', to: 'form' },
      { from: 'form', to: 'ask' },
      { from: 'ask', to: 'end' },
    ]
    const payload = { customer: { type: 'string', title: 'Who' }, id: { type: 'string' } }
    const runId = await paused({ name: 'Ordered', payload, steps, edges }, { id: 'N-1', customer: 'Okafor' })
    const data = { of: 'AX', quantity: 4 }
    await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', pauseId: 'main:form#1', data } })
    await runtime.wait(runId, (run) => run.currentStepId === 'ask' && run.status === 'paused')

    const item = (await listTasks(runtime.ctx, {})).tasks.find((task) => task.runId === runId)
    expect(item?.summary).toEqual([
      ['Who', 'Okafor'],
      ['id', 'N-1'],
      ['How many', '4'],
      ['of', 'AX'],
    ])
    const names = (cut: object | null) => Object.keys((cut && 'value' in cut && cut.value) || {})
    const open = await getTask(runtime.ctx, { runId, pauseId: PAUSE })
    expect(names(open.run.data).slice(0, 5)).toEqual(['customer', 'id', 'quantity', 'of', 'a'])
    expect(open.labels).toEqual({ customer: 'Who', quantity: 'How many' })
    const filledIn = await getTask(runtime.ctx, { runId, pauseId: 'main:form#1' })
    expect(JSON.stringify(filledIn.answer)).toContain('"data":{"quantity":4,"of":"AX"}')

    const body = { type: 'request_user_action', pauseId: PAUSE, actionId: 'yes', actionValue: 'yes' }
    await resumeRun(runtime.ctx, { runId, body })
    await runtime.wait(runId)
    const run = await getRunOverview(runtime.ctx, { runId })
    expect([names(run.input), names(run.result)]).toEqual([
      ['customer', 'id'],
      ['quantity', 'of'],
    ])
    expect(run.answers[0]).toMatchObject({ labels: { quantity: 'How many' } })
    expect(JSON.stringify(run.answers[0]?.answer)).toContain('"data":{"quantity":4,"of":"AX"}')
  })

  it('say of an earlier question of their run that it waits, not that it runs', async () => {
    const twice = {
      ...form,
      steps: [...form.steps, { ...choice.steps[0], id: 'then' }],
      edges: [{ from: 'ask', to: 'then' }],
    }
    const next = await paused(twice, { order: 'D' })
    await resumeRun(runtime.ctx, { runId: next, body: { type: 'collect_inputs', pauseId: PAUSE, data: { n: 3 } } })
    await runtime.wait(next, (run) => run.currentStepId === 'then' && run.status === 'paused')
    expect((await getTask(runtime.ctx, { runId: next, pauseId: PAUSE })).steps).toMatchObject([
      { stepId: 'then', status: 'paused' },
    ])
  })

  it('stay to be looked up once they are answered, latest first, by anybody or by oneself, page by page', async () => {
    const tom = { ...runtime.ctx, actor: { ...runtime.ctx.actor, id: 'key_tom' } }
    const runIds: string[] = []
    for (const ctx of [runtime.ctx, tom, tom]) {
      const runId = await paused({ ...choice, name: 'Looked up' })
      await resumeRun(ctx, { runId, body: { type: 'request_user_action', pauseId: PAUSE, actionId: 'yes' } })
      runIds.push(runId)
    }
    const stopped = await paused({ ...choice, name: 'Looked up' })
    await terminateRun(runtime.ctx, { runId: stopped })
    const q = 'looked'
    const ids = (tasks: { runId: string }[]) => tasks.map(({ runId }) => runId)
    const first = await listTasks(tom, { view: 'done', q, limit: 2 })
    const rest = await listTasks(tom, { view: 'done', q, limit: 2, cursor: first.nextCursor })
    expect(ids([...first.tasks, ...rest.tasks])).toEqual(runIds.toReversed())
    expect(rest.nextCursor).toBeNull()
    expect(first.tasks[0]).toMatchObject({
      label: 'Yes',
      answeredBy: { id: 'key_tom' },
      answeredAt: expect.any(String),
    })
    expect(ids((await listTasks(tom, { view: 'done', byMe: true, q })).tasks)).toEqual(runIds.slice(1).toReversed())
    expect((await listTasks(tom, { q })).tasks).toEqual([])

    // A search examines this many of the newest at a time, and reports how far it got.
    const all = { searched: 1 }
    const none = await listTasks(tom, { view: 'done', q: 'no such task' }, all)
    expect(none).toMatchObject({ tasks: [], searchedTo: first.tasks[0]?.answeredAt, nextCursor: expect.any(String) })
    const found: string[] = []
    let page = await listTasks(tom, { view: 'done', q }, all)
    for (; page.nextCursor !== null; page = await listTasks(tom, { view: 'done', q, cursor: page.nextCursor }, all))
      found.push(...ids(page.tasks))
    expect([...found, ...ids(page.tasks)]).toEqual(runIds.toReversed())
    expect(page.searchedTo).toBeNull()
  })

  it('are searched without reading the runs of all that were answered', async () => {
    const { sql } = database
    await runtime.as('owner', 'ten_answered')
    await sql`insert into workflow_versions (tenant_id, workflow_id, version, name, definition, created_by)
      values ('ten_answered', 'wf_many', 1, 'Many', '{}', 'system')`
    await forge(
      sql,
      Array.from({ length: 3_000 }, (_, n) => `run_ANSWERED${n}`),
    )
    await sql`insert into runs (tenant_id, id, workflow_id, workflow_version, workflow_name, status, outcome, input, data,
        started_by, started_via, start_time, end_time)
      select 'ten_answered', 'run_ANSWERED' || n, 'wf_many', 1, 'Many', 'completed', 'succeeded', '{}', '{}', 'system', 'system',
        now() - n * interval '1 s', now() from generate_series(0, 2999) n`
    await sql`insert into pauses (tenant_id, id, run_id, branch, step_id, visit, kind, signal, created_at, answered_at, answer,
        answered_by, consumed_at)
      select 'ten_answered', 'main:ask#1', 'run_ANSWERED' || n, 'main', 'ask', 1, 'request_user_action',
        '{"type": "request_user_action", "stepId": "ask", "title": "Go on?", "actions": []}', now(), now() - n * interval '1 s',
        '{"type": "request_user_action", "actionId": "yes"}', 'key_tom', now() from generate_series(0, 2999) n`
    await sql`vacuum analyze pauses`
    await sql`vacuum analyze runs`
    const { db, sent } = recorded(sql)
    const ctx = { ...(await runtime.as('owner', 'ten_answered')), db }
    for (const filter of [{ q: 'nothing like it' }, { workflowId: 'wf_rare' }])
      expect((await listTasks(ctx, { view: 'done', ...filter }, { searched: 200 })).tasks).toEqual([])
    const roots = await readRoots(sql)
    for (const one of sent.filter(({ text }) => text.includes('"pauses"'))) {
      const { hit, read } = await explain(sql, one, roots)
      // For each examined task, the index, the row and its run: some three pages.
      expect(hit + read).toBeLessThan(200 * 8)
    }
  })

  it('are withdrawn when their run is stopped', async () => {
    const runId = await paused(choice)
    await terminateRun(runtime.ctx, { runId })
    expect(await getTask(runtime.ctx, { runId, pauseId: PAUSE })).toMatchObject({ status: 'withdrawn', answer: null })
    expect((await listTasks(runtime.ctx, {})).tasks.map((task) => task.runId)).not.toContain(runId)
  })

  it('are hidden from other tenants, and belong only to their run', async () => {
    const runId = await paused(choice)
    const foreign = await runtime.as('owner', 'ten_other')
    expect((await listTasks(foreign, {})).tasks).toEqual([])
    expect(await countTasks(foreign, {})).toEqual({ count: 0, more: false })
    for (const [ctx, id, pauseId] of [
      [foreign, runId, PAUSE],
      [runtime.ctx, runId, 'main:other#1'],
      [runtime.ctx, runId, '\u0000'],
      [runtime.ctx, 'run_unknown', PAUSE],
    ] as const) {
      await expect(getTask(ctx, { runId: id, pauseId })).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' })
    }
  })

  it.each([{ sort: 'best' }, { cursor: 'x' }, { limit: 0 }, { workflowId: "'" }, { type: 'timer' }])(
    'refuse %j',
    async (input) => {
      await expect(listTasks(runtime.ctx, input)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    },
  )
})
