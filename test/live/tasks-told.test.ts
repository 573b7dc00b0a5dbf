import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { database as ownDatabase } from '@/server/database'
import { postEvent } from '@/server/events/post'
import { beHere } from '@/server/live/be-here'
import { LIVE_CHANNEL } from '@/server/live/channel'
import { followLive, nextRest } from '@/server/live/follow'
import { createGroup } from '@/server/members/groups/create'
import { updateGroup } from '@/server/members/groups/update'
import { cancelRun } from '@/server/runs/cancel'
import { claimTask } from '@/server/runs/claim'
import { holdAnswer } from '@/server/runs/held/hold'
import { undoAnswer } from '@/server/runs/held/undo'
import { resumeRun } from '@/server/runs/resume'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'

let database: FreshDatabase
let runtime: TestRuntime
let tess: ServiceContext
const heard: string[] = []
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  const { userId } = await newVisitor(runtime.ctx, 'operator')
  tess = { ...runtime.ctx, actor: { kind: 'user', id: userId, name: 'Tess', sessionId: 's', role: 'operator' } }
  await ownDatabase().listen(LIVE_CHANNEL, { heard: (text) => heard.push(text) }).ready
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

/** Notifications arrive in commit order, so this one follows those of all changes so far. */
async function changesToldSince(from: number): Promise<string[]> {
  const mark = `mark ${from}`
  await database.sql`select pg_notify(${LIVE_CHANNEL}, ${mark})`
  const at = await until(async () => heard.indexOf(mark, from) + 1 || undefined)
  return heard.slice(from, at - 1)
}

const pauseId = 'main:ask#1'
const actions = [{ id: 'yes', label: 'Yes' }]
const asking = (more: object = {}) => ({ steps: [{ id: 'ask', type: 'request-user-action', actions, ...more }] })
async function paused(definition: object): Promise<string> {
  const runId = await runtime.start(definition)
  await runtime.wait(runId, ({ status }) => status === 'paused')
  return runId
}
const yes = { type: 'request_user_action', actionId: 'yes' }

test('every change of a task sends a notification, once for each transaction, which names only the workspace', async () => {
  const told: Record<string, string[]> = {}
  const during = async <T>(what: string, change: () => Promise<T>): Promise<T> => {
    const from = heard.length
    const result = await change()
    told[what] = await changesToldSince(from)
    return result
  }
  const runId = await during('asked', () => paused(asking()))
  await during('claimed', () => claimTask(tess, { runId, pauseId, to: tess.actor.id, from: null }))
  await during('released', () => claimTask(tess, { runId, pauseId, to: null, from: tess.actor.id }))
  await during('held', () => holdAnswer(tess, { runId, body: yes }))
  await during('undone', () => undoAnswer(tess, { runId, pauseId }))
  await during('answered', () => resumeRun(tess, { runId, body: yes }))
  const votes = await during('asked for votes', () => paused(asking({ needs: { yes: 2 } })))
  await during('voted', () => resumeRun(tess, { runId: votes, body: yes }))
  await during('cancelled', async () => {
    await cancelRun(tess, { runId: votes })
    await runtime.wait(votes)
  })
  // One branch fails while the other waits for a person: the run ends, and the task with it.
  const hears = { id: 'hears', type: 'wait-for-event', event: 'fail.now' }
  const fails = { id: 'fails', type: 'fail-flow', code: 'NO' }
  const fork = { id: 'fork', type: 'parallel', branches: [{ id: 'a' }, { id: 'b' }] }
  const ask = { id: 'ask', type: 'request-user-action', actions }
  await during('left open by a run that failed', async () => {
    const run = await paused({
      steps: [fork, ask, hears, fails],
      edges: [
        { from: 'fork', to: 'ask', on: 'a' },
        { from: 'fork', to: 'hears', on: 'b' },
        { from: 'hears', to: 'fails' },
      ],
    })
    await postEvent(runtime.ctx, { name: 'fail.now' })
    await runtime.wait(run)
  })
  const { id } = await createGroup(runtime.ctx, { name: 'Finance' })
  await during('seen by a group’s new member', () =>
    updateGroup(runtime.ctx, { id, body: { memberIds: [tess.actor.id] } }),
  )
  await during('of a group with another name', () => updateGroup(runtime.ctx, { id, body: { name: 'Accounts' } }))
  const payload = JSON.stringify({ tasksOf: runtime.ctx.tenantId }).replace(':', ' : ')
  for (const [what, payloads] of Object.entries(told)) {
    expect(payloads.length, what).toBeGreaterThan(0)
    expect(new Set(payloads), what).toEqual(new Set([payload]))
  }
  expect(told.claimed).toHaveLength(1)
  expect(told.answered).toHaveLength(1)

  const from = heard.length
  await runtime.wait(await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] }))
  expect(await changesToldSince(from)).toEqual([])
})

test('a page gets an invalidation event at once, then one for each change in its workspace, and none for others', async () => {
  const other = await runtime.as('owner', 'ten_other')
  const leave = new AbortController()
  const follow = (ctx: ServiceContext, tab: string) => followLive(ctx, { tab }, leave.signal)
  const page = follow(tess, 'page_of_tess')
  const elsewhere = follow(other, 'page_of_other')
  for (const one of [page, elsewhere]) expect((await one.next()).value).toEqual({ tasks: true, people: true })
  await paused(asking())
  expect((await page.next()).value).toEqual({ tasks: true, people: false })
  // The other page's first event is of its own workspace.
  const { id } = await createWorkflow(other, { name: 'Theirs', steps: [{ id: 'end', type: 'end-flow' }] })
  await beHere(other, { id, tab: 'page_of_other', stepId: null })
  await beHere({ ...other, actor: { ...other.actor, id: 'key_2' } }, { id, tab: 'a_second_page', stepId: null })
  expect((await elsewhere.next()).value).toEqual({ tasks: false, people: true })
  leave.abort()
  expect(await page.next()).toMatchObject({ done: true })
})

test('a page reads again after a time in which nobody listened', async () => {
  const leave = new AbortController()
  const page = followLive(tess, { tab: 'page_of_a_loss' }, leave.signal)
  await page.next()
  await database.sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and query like ${`%listen "${LIVE_CHANNEL}"%`} and pid <> pg_backend_pid()`
  expect((await page.next()).value).toEqual({ tasks: true, people: true })
  leave.abort()
  await page.next()
})

test('a page gets fewer events while changes do not stop, and at once again after a quiet while', () => {
  const first = nextRest(0, true)
  let rest = first
  let told = 0
  for (let ms = 0; ms < 60_000; ms += rest) {
    told += 1
    rest = nextRest(rest, false)
  }
  // Each time, an open inbox makes about six requests, and a person has 600 a minute.
  expect(told).toBeLessThanOrEqual(15)
  expect(first).toBeLessThan(1_000)
  expect(nextRest(rest, true)).toBe(first)
})
