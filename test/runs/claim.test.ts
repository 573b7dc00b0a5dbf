import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { members } from '@/db/schema/members'
import type { ServiceContext } from '@/server/context'
import type { Role } from '@/server/roles'
import { claimTask } from '@/server/runs/claim'
import { resumeRun } from '@/server/runs/resume'
import { listTakers } from '@/server/views/tasks/claims'
import { getTask } from '@/server/views/tasks/get'
import { listTasks } from '@/server/views/tasks/list'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'

let database: FreshDatabase
let runtime: TestRuntime
let tess: ServiceContext
let bob: ServiceContext
let vera: ServiceContext

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  tess = await person('operator')
  bob = await person('editor')
  vera = await person('viewer')
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function person(role: Role): Promise<ServiceContext> {
  const { userId } = await newVisitor(runtime.ctx, role)
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name: role, sessionId: 's', role } }
}
const pauseId = 'main:ask#1'
async function paused(rules: object = {}): Promise<string> {
  const actions = [{ id: 'yes', label: 'Yes' }]
  const runId = await runtime.start({ steps: [{ id: 'ask', type: 'request-user-action', actions, ...rules }] })
  await runtime.wait(runId, (run) => run.status === 'paused')
  return runId
}
type View = 'open' | 'mine' | 'roles'
const sees = async (by: ServiceContext, runId: string) => {
  const views: View[] = ['open', 'mine', 'roles']
  const found = await Promise.all(views.map(async (view) => (await listTasks(by, { view, limit: 100 })).tasks))
  return views.filter((_view, index) => found[index]?.some((task) => task.runId === runId))
}

test('of two who claim a task at once one gets it, and others see who', async () => {
  const runId = await paused({ assignees: ['role:operator'] })
  expect(await sees(tess, runId)).toEqual(['open', 'roles'])
  const both = await Promise.allSettled(
    [tess, bob].map((by) => claimTask(by, { runId, pauseId, to: by.actor.id, from: null })),
  )
  expect(both.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
  expect(both.find(({ status }) => status === 'rejected')).toMatchObject({ reason: { code: 'CONFLICT' } })
  const [winner, loser] = both[0]?.status === 'fulfilled' ? [tess, bob] : [bob, tess]
  expect((await getTask(loser, { runId, pauseId })).claim).toMatchObject({ id: winner.actor.id })
  // It is not among the loser’s own tasks, but still theirs to answer.
  expect(await sees(winner, runId)).toEqual(['open', 'mine'])
  expect(await sees(loser, runId)).toEqual(['open'])
  await claimTask(winner, { runId, pauseId, to: null, from: winner.actor.id })
  expect(await sees(loser, runId)).toEqual(['open', 'roles'])
  await claimTask(winner, { runId, pauseId, to: winner.actor.id, from: null })
  await resumeRun(loser, { runId, body: { type: 'request_user_action', pauseId, actionId: 'yes' } })
  await runtime.wait(runId)
  await expect(claimTask(tess, { runId, pauseId, to: null, from: winner.actor.id })).rejects.toMatchObject({
    code: 'RUN_NOT_PAUSED',
  })
})

test('a task is given only to a member who may answer it', async () => {
  const runId = await paused({ assignees: [`user:${bob.actor.id}`] })
  const give = (by: ServiceContext, to: string) => claimTask(by, { runId, pauseId, to, from: null })
  await expect(give(vera, vera.actor.id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
  await expect(give(bob, vera.actor.id)).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(give(bob, 'usr_of_nobody')).rejects.toMatchObject({ code: 'INVALID_INPUT' })
  await expect(give(tess, tess.actor.id)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
  expect((await listTakers(tess, { runId, pauseId })).map(({ id }) => id)).toEqual([bob.actor.id])
  // A member who may answer tasks may also assign them.
  expect(await give(tess, bob.actor.id)).toEqual({ claimedBy: bob.actor.id })
  expect(await sees(bob, runId)).toEqual(['open', 'mine'])
})

test('a claim takes nobody’s vote off their list, and ends with its own', async () => {
  const runId = await paused({ assignees: ['role:operator'], needs: { yes: 2 } })
  await claimTask(tess, { runId, pauseId, to: tess.actor.id, from: null })
  expect(await sees(bob, runId)).toEqual(['open', 'roles'])
  await resumeRun(tess, { runId, body: { type: 'request_user_action', pauseId, actionId: 'yes' } })
  expect((await getTask(bob, { runId, pauseId })).claim).toBeNull()
  expect(await sees(tess, runId)).not.toContain('mine')
})

test('the claim of a person who may no longer answer is nobody’s', async () => {
  const carl = await person('operator')
  const runId = await paused({ assignees: [`user:${bob.actor.id}`, `user:${carl.actor.id}`] })
  const role = (to: Role) => database.db.update(members).set({ role: to }).where(eq(members.userId, carl.actor.id))
  await claimTask(carl, { runId, pauseId, to: carl.actor.id, from: null })
  expect(await sees(bob, runId)).toEqual(['open'])
  await role('viewer')
  expect(await sees(bob, runId)).toEqual(['open', 'mine'])
  expect((await getTask(bob, { runId, pauseId })).claim).toBeNull()
  await role('operator')
  await database.db.delete(members).where(eq(members.userId, carl.actor.id))
  expect(await sees(bob, runId)).toEqual(['open', 'mine'])
  await claimTask(bob, { runId, pauseId, to: bob.actor.id, from: null })
  expect((await getTask(bob, { runId, pauseId })).claim).toMatchObject({ id: bob.actor.id })
})
