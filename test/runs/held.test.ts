import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { members } from '@/db/schema/members'
import type { ServiceContext } from '@/server/context'
import { cancelRun } from '@/server/runs/cancel'
import { sweepHeld } from '@/server/runs/held/give'
import { holdAnswer } from '@/server/runs/held/hold'
import { dismissRefusal, undoAnswer } from '@/server/runs/held/undo'
import { resumeRun } from '@/server/runs/resume'
import { setVaultSecret } from '@/server/vault/set'
import { listComments } from '@/server/views/runs/comments'
import { getRunOverview } from '@/server/views/runs/overview'
import { countTasks } from '@/server/views/tasks/count'
import { getTask } from '@/server/views/tasks/get'
import { listRefused } from '@/server/views/tasks/held'
import { listTasks } from '@/server/views/tasks/list'
import { until } from '../engine/support'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'

// I42. Short holds here; where a hold must last, the test undoes it, or another event precedes its end.

const HOLD_MS = 1_500
const settings = { ANSWER_UNDO_MS: String(HOLD_MS), MILLRACE_HOST_ID: 'one', ENCRYPTION_KEY: 'ab'.repeat(32) }

let database: FreshDatabase
let runtime: TestRuntime
let tess: ServiceContext
let bob: ServiceContext

beforeAll(async () => {
  database = await freshDatabase({ max: 10 })
  runtime = await startTestRuntime(database.url, settings)
  tess = await person('Tess')
  bob = await person('Bob')
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function person(name: string): Promise<ServiceContext> {
  const { userId } = await newVisitor(runtime.ctx, 'operator')
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name, sessionId: 's', role: 'operator' } }
}

const PAUSE = 'main:ask#1'
const form = {
  name: 'Form',
  steps: [
    { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } } },
    { id: 'end', type: 'end-flow', output: { n: '${n}' } },
  ],
  edges: [{ from: 'ask', to: 'end' }],
}
async function paused(definition: object = form): Promise<string> {
  const runId = await runtime.start(definition)
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}
const hold = (by: ServiceContext, runId: string, n: number) =>
  holdAnswer(by, { runId, body: { type: 'collect_inputs', pauseId: PAUSE, data: { n } } })
const undo = (by: ServiceContext, runId: string) => undoAnswer(by, { runId, pauseId: PAUSE })
const openFor = async (by: ServiceContext, runId: string) =>
  (await listTasks(by, { limit: 100 })).tasks.find((task) => task.runId === runId)
const heldRows = (runId: string) => database.sql`select refused from held_answers where run_id = ${runId}`
const refusalOf = (by: ServiceContext, runId: string) =>
  until(async () => (await getTask(by, { runId, pauseId: PAUSE })).refused ?? undefined)

test('a held answer is given once its time is over, in the name and at the time of the person who gave it', async () => {
  const runId = await paused()
  const before = await countTasks(tess, {})
  const from = Date.now()
  expect(await hold(tess, runId, 5)).toEqual({ undoMs: HOLD_MS })
  const to = Date.now()
  expect((await runtime.status(runId)).status).toBe('paused')
  expect((await countTasks(tess, {})).count).toBe(before.count - 1)
  expect(await openFor(tess, runId)).toBeUndefined()
  expect(await openFor(bob, runId)).toMatchObject({ answering: 'operator' })
  const { held } = await getTask(tess, { runId, pauseId: PAUSE })
  expect(held).toMatchObject({ own: true, label: null })
  await expect(hold(bob, runId, 6)).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
  await expect(hold(tess, runId, 6)).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
  expect((await runtime.wait(runId)).result).toEqual({ n: 5 })
  const { answeredBy, answeredAt } = await getTask(bob, { runId, pauseId: PAUSE })
  expect(answeredBy?.id).toBe(tess.actor.id)
  expect(Date.parse(answeredAt ?? '')).toBeGreaterThanOrEqual(from - 5)
  expect(Date.parse(answeredAt ?? '')).toBeLessThanOrEqual(to + 5)
  expect(await heldRows(runId)).toHaveLength(0)
})

test('an answer that was undone never reaches the run, even if it is undone the moment it is due', async () => {
  const runIds = await Promise.all(Array.from({ length: 12 }, () => paused()))
  await Promise.all(runIds.map((runId) => hold(tess, runId, 1)))
  const due = Date.now() + HOLD_MS
  const undone = await Promise.all(
    runIds.map(async (runId, index) => {
      // Some well before, and the others around the moment at which the engine submits them.
      const at = index < 4 ? 0 : due - 20 + (index - 4) * 30
      await until(async () => Date.now() >= at || undefined)
      return (await undo(tess, runId)) !== null
    }),
  )
  expect(undone.slice(0, 4)).toEqual([true, true, true, true])
  // A person whose undo came too late has answered.
  for (const [index, runId] of runIds.entries()) if (!undone[index]) await runtime.wait(runId)
  await sweepHeld({ db: database.db, log: runtime.ctx.log, now: () => new Date(Date.now() + 60_000) })
  for (const [index, runId] of runIds.entries()) {
    expect((await runtime.status(runId)).status).toBe(undone[index] ? 'paused' : 'completed')
    expect(await heldRows(runId)).toHaveLength(0)
  }
  // The task is open again, and takes another answer.
  const [again = ''] = runIds
  expect(await openFor(tess, again)).toMatchObject({ answering: null })
  await hold(tess, again, 2)
  expect((await runtime.wait(again)).result).toEqual({ n: 2 })
})

test('a held answer survives a restart and is given once, also when its event is lost', async () => {
  const [runId, lost] = [await paused(), await paused()]
  await hold(tess, runId, 7)
  await database.sql.unsafe(`
    create function lose_held() returns trigger language plpgsql as $$ begin return null; end $$;
    create trigger lose_held before insert on outbox for each row
      when (new.name = 'workflow/answer.held') execute function lose_held()`)
  await hold(tess, lost, 8)
  await database.sql`drop trigger lose_held on outbox`
  await runtime.stop()
  runtime = await startTestRuntime(database.url, settings)
  expect((await runtime.wait(runId)).result).toEqual({ n: 7 })
  const later = { db: database.db, log: runtime.ctx.log, now: () => new Date(Date.now() + 60_000) }
  // Several processes may sweep concurrently.
  await Promise.all([sweepHeld(later), sweepHeld(later), sweepHeld(later)])
  expect((await runtime.wait(lost)).result).toEqual({ n: 8 })
  expect(await heldRows(lost)).toHaveLength(0)
})

test('events of the run meanwhile come first, and the person is notified', async () => {
  const [rest, stopped, demoted] = [await paused(), await paused(), await paused()]
  for (const runId of [rest, stopped]) await hold(tess, runId, 1)
  await hold(bob, demoted, 1)
  await resumeRun(runtime.ctx, { runId: rest, body: { type: 'collect_inputs', data: { n: 2 } } })
  // Their screen keeps polling: the answer's result is still theirs to see.
  expect(await getTask(tess, { runId: rest, pauseId: PAUSE })).toMatchObject({
    status: 'answered',
    held: { own: true },
  })
  await cancelRun(runtime.ctx, { runId: stopped })
  await database.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, bob.actor.id))
  expect(await refusalOf(tess, rest)).toMatchObject({ code: 'RUN_NOT_PAUSED', data: { value: { n: 1 } } })
  expect((await runtime.wait(rest)).result).toEqual({ n: 2 })
  expect(await refusalOf(tess, stopped)).toMatchObject({ code: 'RUN_NOT_PAUSED' })
  expect((await runtime.status(stopped)).outcome).toBe('cancelled')
  expect(await refusalOf(bob, demoted)).toMatchObject({ code: 'FORBIDDEN' })
  expect(await openFor(tess, demoted)).toMatchObject({ answering: null })
  await database.db.update(members).set({ role: 'operator' }).where(eq(members.userId, bob.actor.id))
  expect((await listRefused(tess)).map(({ runId }) => runId).sort()).toEqual([rest, stopped].sort())
  // Undoing is not dismissing: a tab may still offer it.
  expect(await undo(tess, rest)).toBeNull()
  for (const runId of [rest, stopped]) await dismissRefusal(tess, { runId, pauseId: PAUSE })
  expect(await listRefused(tess)).toEqual([])
})

test('dismissing a refusal never takes back a newer answer, and undoing reports if the task is still open', async () => {
  const runId = await paused()
  await hold(bob, runId, 1)
  await database.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, bob.actor.id))
  expect(await refusalOf(bob, runId)).toMatchObject({ code: 'FORBIDDEN' })
  await database.db.update(members).set({ role: 'operator' }).where(eq(members.userId, bob.actor.id))
  await hold(bob, runId, 2)
  await dismissRefusal(bob, { runId, pauseId: PAUSE })
  expect(await heldRows(runId)).toEqual([{ refused: null }])
  await cancelRun(runtime.ctx, { runId })
  expect(await undo(bob, runId)).toMatchObject({ answer: { data: { n: 2 } }, open: false })
})

test('votes are held side by side, and each counts from when it was given', async () => {
  const actions = [{ id: 'yes', label: 'Yes' }]
  const runId = await paused({
    name: 'Vote',
    steps: [{ id: 'ask', type: 'request-user-action', actions, needs: { yes: 2 }, assignees: ['role:operator'] }],
  })
  const vote = (by: ServiceContext) =>
    holdAnswer(by, { runId, body: { type: 'request_user_action', pauseId: PAUSE, actionId: 'yes' } })
  await vote(tess)
  await vote(bob)
  await expect(vote(bob)).rejects.toMatchObject({ code: 'RUN_NOT_PAUSED' })
  expect((await getTask(tess, { runId, pauseId: PAUSE })).held).toMatchObject({ own: true, label: 'Yes' })
  await runtime.wait(runId)
  expect((await getTask(tess, { runId, pauseId: PAUSE })).status).toBe('answered')
})

const question = {
  name: 'Question',
  steps: [{ id: 'ask', type: 'request-user-action', title: 'The order', actions: [{ id: 'yes', label: 'Yes' }] }],
}
const decide = (by: ServiceContext, runId: string, remark: string) =>
  holdAnswer(by, { runId, body: { type: 'request_user_action', pauseId: PAUSE, actionId: 'yes', remark } })
const commentsOf = async (runId: string) =>
  (await listComments(bob, { runId })).map(({ text, author, task }) => ({ text, author, task }))

test('a remark becomes a comment once the run gets the answer, and an undone answer takes it along', async () => {
  await setVaultSecret(runtime.ctx, { name: 'PASSWORD', value: 'swordfish-8472' })
  const runId = await paused(question)
  await decide(tess, runId, ' not yet ')
  expect(await undo(tess, runId)).toMatchObject({ answer: { actionId: 'yes', remark: 'not yet' } })
  await expect(decide(tess, runId, 'x'.repeat(5_001))).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await decide(tess, runId, 'fine, swordfish-8472')
  expect((await getTask(tess, { runId, pauseId: PAUSE })).held).toMatchObject({ remark: 'fine, ***' })
  expect(await commentsOf(runId)).toEqual([])
  expect(JSON.stringify(await runtime.wait(runId))).not.toContain('fine')
  expect(await commentsOf(runId)).toEqual([{ text: 'fine, ***', author: 'operator', task: 'The order' }])
  const remarks = [{ by: tess.actor.id, name: 'operator', text: 'fine, ***' }]
  expect(await getTask(bob, { runId, pauseId: PAUSE })).toMatchObject({ remarks })
  expect(await getRunOverview(bob, { runId })).toMatchObject({ answers: [{ label: 'Yes', remarks }] })
})

test('a remark is kept with an answer that counts at once, with each vote, and with a refusal', async () => {
  const expires = { ...question.steps[0], expiresIn: 'PT6S' }
  const atOnce = await paused({ ...question, steps: [expires] })
  expect(await decide(tess, atOnce, 'quick')).toEqual({ undoMs: null })
  expect(await commentsOf(atOnce)).toMatchObject([{ text: 'quick' }])
  const voted = await paused({
    ...question,
    steps: [{ ...question.steps[0], needs: { yes: 2 }, assignees: ['role:operator'] }],
  })
  await decide(tess, voted, 'mine')
  await decide(bob, voted, 'and mine')
  await runtime.wait(voted)
  const { answers } = await getRunOverview(bob, { runId: voted })
  expect(answers[0]?.remarks.map(({ by, text }) => [by, text]).sort()).toEqual(
    [
      [tess.actor.id, 'mine'],
      [bob.actor.id, 'and mine'],
    ].sort(),
  )
  const stopped = await paused(question)
  await decide(tess, stopped, 'too late')
  await cancelRun(runtime.ctx, { runId: stopped })
  expect(await refusalOf(tess, stopped)).toMatchObject({ remark: 'too late' })
  expect(await commentsOf(stopped)).toEqual([])
})

test('there is no time to undo where it would outlast the task, or in a test run', async () => {
  const soon = { id: 'ask', type: 'collect-inputs', output: { n: { type: 'number' } }, expiresIn: 'PT6S' }
  const runId = await paused({ ...form, steps: [soon, form.steps[1]] })
  expect(await hold(tess, runId, 3)).toEqual({ undoMs: null })
  expect((await runtime.wait(runId)).result).toEqual({ n: 3 })
})
