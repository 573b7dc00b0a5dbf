import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createGroup } from '@/server/members/groups/create'
import { deleteGroup } from '@/server/members/groups/delete'
import { updateGroup } from '@/server/members/groups/update'
import type { Role } from '@/server/roles'
import { claimTask } from '@/server/runs/claim'
import { resumeRun } from '@/server/runs/resume'
import { getRunStatus } from '@/server/runs/status'
import { listTakers } from '@/server/views/tasks/claims'
import { countViews } from '@/server/views/tasks/count'
import { getTask } from '@/server/views/tasks/get'
import { listTasks } from '@/server/views/tasks/list'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'

let database: FreshDatabase
let runtime: TestRuntime
const people = {} as Record<'ada' | 'bob' | 'cid' | 'vera', ServiceContext>

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  for (const [name, role] of Object.entries({ ada: 'operator', bob: 'editor', cid: 'operator', vera: 'viewer' }))
    people[name as 'ada'] = await person(name, role as Role)
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function person(name: string, role: Role): Promise<ServiceContext> {
  const { userId } = await newVisitor(runtime.ctx, role)
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name, sessionId: 's', role } }
}
const group = (name: string, ...members: ServiceContext[]) =>
  createGroup(runtime.ctx, { name, memberIds: members.map(({ actor }) => actor.id) })

const pauseId = 'main:ask#1'
async function paused(rules: object, input: object = {}): Promise<string> {
  const actions = [{ id: 'yes', label: 'Yes' }]
  const payload = { team: { type: 'string', required: false } }
  const steps = [{ id: 'ask', type: 'request-user-action', actions, ...rules }]
  const runId = await runtime.start({ payload, steps }, input)
  await runtime.wait(runId, ({ status }) => status === 'paused')
  return runId
}
const answer = (by: ServiceContext, runId: string, more: object = {}) =>
  resumeRun(by, { runId, body: { type: 'request_user_action', actionId: 'yes', ...more } }).then(
    ({ status }) => status as string,
    (err: { code: string }) => err.code,
  )
const isMine = async (by: ServiceContext, runId: string) =>
  (await listTasks(by, { view: 'mine', limit: 100 })).tasks.some((task) => task.runId === runId)
const keyFor: ServiceContext['actor'] = { kind: 'apiKey', id: 'key_of_groups', role: 'operator' }

test('the members of a group may answer its task, find it under Mine, and may be given it; nobody else', async () => {
  const { ada, bob, cid, vera } = people
  await group('Finance', ada, bob, vera)
  const runId = await paused({ assignees: ['group:FINANCE'] })
  expect((await getRunStatus(runtime.ctx, { runId })).pauseSignal).toMatchObject({ assignees: ['group:finance'] })
  expect(await Promise.all([ada, bob, cid].map((by) => isMine(by, runId)))).toEqual([true, true, false])
  expect((await countViews(ada, {})).mine.count).toBe(1)
  expect((await countViews(ada, {})).roles.count).toBe(0)
  expect((await countViews(cid, {})).mine.count).toBe(0)
  expect((await getTask(cid, { runId, pauseId })).people).toMatchObject({
    ...{ assignees: ['anybody in the group Finance'], bar: 'NOT_ASSIGNED' },
  })
  expect((await getTask(ada, { runId, pauseId })).people.bar).toBeNull()
  const takers = (await listTakers(ada, { runId, pauseId })).map(({ id }) => id)
  expect(new Set(takers)).toEqual(new Set([ada.actor.id, bob.actor.id]))
  await expect(claimTask(ada, { runId, pauseId, to: cid.actor.id, from: null })).rejects.toMatchObject({
    code: 'NOT_ASSIGNED',
  })
  await claimTask(ada, { runId, pauseId, to: bob.actor.id, from: null })
  expect(await Promise.all([ada, bob].map((by) => isMine(by, runId)))).toEqual([false, true])
  expect(await answer(cid, runId)).toBe('NOT_ASSIGNED')
  expect(await answer({ ...runtime.ctx, actor: keyFor }, runId)).toBe('NOT_ASSIGNED')
  expect(await answer({ ...runtime.ctx, actor: keyFor }, runId, { answeredBy: 'somebody' })).toBe('NOT_ASSIGNED')
  expect(await answer({ ...runtime.ctx, actor: keyFor }, runId, { answeredBy: ada.actor.id })).toBe('running')
})

test('who is in a group counts when somebody answers, not when the task opens', async () => {
  const { ada, cid } = people
  const { id } = await group('Shipping', ada)
  const runId = await paused({ assignees: ['group:shipping'] })
  await updateGroup(runtime.ctx, { id, body: { memberIds: [cid.actor.id] } })
  expect(await Promise.all([ada, cid].map((by) => isMine(by, runId)))).toEqual([false, true])
  expect(await answer(ada, runId)).toBe('NOT_ASSIGNED')
  expect(await answer(cid, runId)).toBe('running')
})

test('an open task follows its group through a rename, and waits while no group has its name', async () => {
  const { ada, bob } = people
  const { id } = await group('Legal', ada)
  const first = await paused({ assignees: ['group:Legal'] })
  const second = await paused({ assignees: ['group:Legal'] })
  await updateGroup(runtime.ctx, { id, body: { name: 'Law' } })
  expect((await getTask(ada, { runId: first, pauseId })).people.assignees).toEqual(['anybody in the group Law'])
  expect(await isMine(ada, first)).toBe(true)
  expect(await answer(ada, first)).toBe('running')
  // Another group takes the name.
  const taker = await group('LEGAL', bob)
  expect(await Promise.all([ada, bob].map((by) => isMine(by, second)))).toEqual([false, true])
  expect(await answer(ada, second)).toBe('NOT_ASSIGNED')
  await deleteGroup(runtime.ctx, { id: taker.id })
  expect(await answer(bob, second)).toBe('NOT_ASSIGNED')
  expect(await answer({ ...bob, actor: { ...bob.actor, role: 'owner' } }, second)).toBe('NOT_ASSIGNED')
  expect((await getTask(ada, { runId: second, pauseId })).people.assignees).toEqual(['anybody in the group legal'])
  await group('Legal', ada)
  expect(await answer(ada, second)).toBe('running')
})

test('a group may be named by an expression, beside people and roles, and its members vote', async () => {
  const { ada, bob, cid, vera } = people
  await group('Board', ada, bob, vera)
  const rules = { assignees: ['group:${team}', 'user:someone@example.com'], needs: { yes: 2 } }
  const runId = await paused(rules, { team: 'Board' })
  expect((await getTask(ada, { runId, pauseId })).people.voters).toBeNull()
  expect(await answer(ada, runId)).toBe('paused')
  expect(await isMine(ada, runId)).toBe(false)
  expect(await answer(ada, runId)).toBe('ALREADY_VOTED')
  expect(await answer(cid, runId)).toBe('NOT_ASSIGNED')
  expect(await answer(vera, runId)).toBe('FORBIDDEN')
  expect(await answer(bob, runId)).toBe('running')
})

test('a group of another workspace is another group', async () => {
  const other = await runtime.as('owner', 'ten_other_groups')
  const runId = await paused({ assignees: ['group:Elsewhere'] })
  const { userId } = await newVisitor(other, 'operator')
  await createGroup(other, { name: 'Elsewhere', memberIds: [userId] })
  const sameId: ServiceContext = { ...people.cid, actor: { ...people.cid.actor, id: userId } }
  expect(await isMine(sameId, runId)).toBe(false)
  expect(await answer(sameId, runId)).toBe('NOT_ASSIGNED')
})
