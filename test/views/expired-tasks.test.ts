import { afterAll, beforeAll, expect, test } from 'vitest'
import { plainText, storyOf } from '@/app/(dashboard)/[tenant]/runs/[runId]/story'
import { stateOf, visitsOf } from '@/app/(dashboard)/[tenant]/runs/[runId]/timeline-model'
import { answerTaskLink } from '@/server/links/answer'
import { createTaskLink } from '@/server/links/create'
import { openTaskLink } from '@/server/links/open'
import { createMember } from '@/server/members/create'
import { cancelRun } from '@/server/runs/cancel'
import { resumeRun } from '@/server/runs/resume'
import { readInsights } from '@/server/views/insights/read'
import { readStepFigures } from '@/server/views/insights/steps'
import { getRunOverview } from '@/server/views/runs/overview'
import { readStep } from '@/server/views/runs/step-detail'
import { readTimeline } from '@/server/views/runs/timeline'
import { getTask } from '@/server/views/tasks/get'
import { listTasks } from '@/server/views/tasks/list'
import { type FreshDatabase, freshDatabase } from '../support/db'
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

const PAUSE = 'main:ok#1'
const asking = (more: object = {}) => ({
  steps: [
    {
      ...{ id: 'ok', type: 'request-user-action', title: 'The refund', needs: { approve: 2 } },
      actions: [
        { id: 'approve', label: 'Approve' },
        { id: 'reject', label: 'Reject' },
      ],
      ...more,
    },
    { id: 'late', type: 'set-data', name: 'Ask the manager', values: { late: true } },
  ],
  edges: [{ from: 'ok', to: 'late', on: 'timeout' }],
})

/** Three hours later, when the time of the tasks here is up. */
const later = () => new Date(Date.now() + 3 * 3600_000)
/** Lets the open tasks of two hours expire. */
async function expire() {
  const { answerDue } = await import('@/server/interpreter/wait/due')
  await answerDue({ db: runtime.db, log: runtime.ctx.log, now: later })
}

/** A run at its task, with one vote by the actor of the runtime. */
async function voted(definition: object, remark?: string) {
  const runId = await runtime.start(definition)
  await runtime.wait(runId, ({ status }) => status === 'paused')
  const by = { id: 'bob', kind: 'jwt', secretId: 'sec_1', role: 'operator' } as const
  const body = { type: 'request_user_action', actionId: 'approve', ...(remark ? { remark } : {}) }
  await resumeRun({ ...runtime.ctx, actor: by }, { runId, body })
  return runId
}
const story = async (runId: string) => plainText(storyOf(await getRunOverview(runtime.ctx, { runId })))

test('a task whose time is up was decided by nobody, wherever people read of it, and its votes are still shown', async () => {
  const runId = await voted(asking({ expiresIn: 'PT2H' }))
  await expire()
  const run = await runtime.wait(runId)
  expect(run).toMatchObject({ status: 'completed', data: { late: true } })

  const told = await story(runId)
  expect(told).toMatch(/^The refund expired undecided, which led to Ask the manager\. 1 of 2 chose “Approve”: bob\. It/)
  const { answers } = await getRunOverview(runtime.ctx, { runId })
  expect(answers).toMatchObject([
    { ended: 'expired', answeredBy: null, label: null, votes: null, undecided: { votes: [{ name: 'bob' }] } },
  ])
  expect(await getTask(runtime.ctx, { runId, pauseId: PAUSE })).toMatchObject({
    ...{ status: 'expired', answeredBy: null, answer: null },
    people: { votes: [{ name: 'bob', label: 'Approve' }] },
  })
  const { tasks } = await listTasks(runtime.ctx, { view: 'done' })
  expect(tasks.find((task) => task.runId === runId)).toMatchObject({
    ...{ expired: true, answeredBy: null, label: null },
    votes: { cast: 1 },
  })
  const visits = visitsOf(await readTimeline(runtime.ctx, { runId }))
  expect(visits.map((visit) => [visit.stepId, stateOf(visit)])).toEqual([
    ['ok', 'timed_out'],
    ['late', 'completed'],
  ])
  expect(await readStep(runtime.ctx, { runId, seq: visits[0]?.seq ?? 0 })).toMatchObject({
    pause: { ended: 'expired' },
  })
})

test('a form nobody filled in expired without an answer, and the run says what it waited for when it timed out', async () => {
  const definition = {
    steps: [
      { id: 'ok', type: 'collect-inputs', title: 'The refund', expiresIn: 'PT2H', output: { n: { type: 'number' } } },
    ],
  }
  const runId = await runtime.start(definition)
  await runtime.wait(runId, ({ status }) => status === 'paused')
  await expire()
  expect(await runtime.wait(runId)).toMatchObject({ outcome: 'timed_out' })
  expect(await story(runId)).toMatch(
    /^The refund expired unanswered\. It timed out after .* and no step: “Nobody answered in time”\.$/,
  )
})

test('a delay that is over continued, and nobody answered it', async () => {
  const runId = await runtime.start({ steps: [{ id: 'wait', type: 'delay', for: 'PT1S' }] })
  await runtime.wait(runId)
  const [visit] = visitsOf(await readTimeline(runtime.ctx, { runId }))
  expect(visit && stateOf(visit)).toBe('completed')
  expect(await readStep(runtime.ctx, { runId, seq: visit?.seq ?? 0 })).toMatchObject({ pause: { ended: 'continued' } })
})

test('votes at a task that was withdrawn are still shown', async () => {
  const runId = await voted(asking({ expiresIn: 'P1D' }))
  await cancelRun(runtime.ctx, { runId })
  await runtime.wait(runId)
  expect(await story(runId)).toMatch(/^The refund was withdrawn undecided\. 1 of 2 chose “Approve”: bob\. /)
  // Without a vote there is nothing to show.
  const other = await runtime.start(asking({ expiresIn: 'P1D' }))
  await runtime.wait(other, ({ status }) => status === 'paused')
  await cancelRun(runtime.ctx, { runId: other })
  await runtime.wait(other)
  expect((await getRunOverview(runtime.ctx, { runId: other })).answers).toEqual([])
})

test('a vote by link is told as a vote, whether the others decided or the time was up', async () => {
  const member = { email: 'tess@example.com', name: 'Tess', role: 'operator', password: 'a-long-password' }
  const { userId: id } = await createMember(runtime.ctx, member)
  const tess = { ...runtime.ctx, actor: { kind: 'user', id, name: 'Tess', sessionId: 's', role: 'operator' } as const }
  const visitor = {
    db: runtime.db,
    headers: new Headers(),
    log: runtime.ctx.log,
    now: () => new Date(),
    requestId: 'r',
  }
  for (const [more, became] of [
    [{ expiresIn: 'PT2H', needs: { approve: 3 } }, 'expired'],
    [{ expiresIn: 'P1D', needs: { approve: 3, reject: 1 } }, 'decided'],
  ] as const) {
    const runId = await voted(asking(more))
    const { url } = await createTaskLink(tess, { runId, body: {}, origin: 'https://millrace.example.com' })
    const token = url.slice(url.indexOf('#') + 1)
    expect(await answerTaskLink(visitor, { token, actionId: 'approve' })).toMatchObject({ vote: 'open' })
    if (became === 'decided') {
      const by = { id: 'carol', kind: 'jwt', secretId: 'sec_1', role: 'operator' } as const
      await resumeRun(
        { ...runtime.ctx, actor: by },
        { runId, body: { type: 'request_user_action', actionId: 'reject' } },
      )
    }
    if (became === 'expired') await expire()
    await runtime.wait(runId)
    // A link expires with its task, and then shows nothing of it.
    const seen =
      became === 'expired'
        ? { state: 'expired', usedAt: expect.any(String) }
        : { state: 'used', given: { label: 'Approve' } }
    expect(
      await openTaskLink({ ...visitor, now: became === 'expired' ? later : visitor.now }, { token }),
    ).toMatchObject({ ...seen, vote: became })
  }
})

test('insights count answers, and no task whose time was up', async () => {
  const runId = await voted({ ...asking({ expiresIn: 'PT2H' }), name: 'Counted' })
  await expire()
  await runtime.wait(runId)
  const { workflowId } = await getRunOverview(runtime.ctx, { runId })
  const { waits } = await readInsights(runtime.ctx, { workflowId, days: 7 })
  expect(waits).toEqual([])
  const { steps } = await readStepFigures(runtime.ctx, { id: workflowId })
  expect(steps.find(({ stepId }) => stepId === 'ok')).toMatchObject({ wait: null })
})
