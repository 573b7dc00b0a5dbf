import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { createMember } from '@/server/members/create'
import { createGroup } from '@/server/members/groups/create'
import { updateGroup } from '@/server/members/groups/update'
import type { Role } from '@/server/roles'
import { cancelRun } from '@/server/runs/cancel'
import { claimTask } from '@/server/runs/claim'
import { holdAnswer } from '@/server/runs/held/hold'
import { readHistory } from '@/server/runs/history'
import { sweepReminders } from '@/server/runs/remind'
import { resumeRun } from '@/server/runs/resume'
import { getTask } from '@/server/views/tasks/get'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let people: Record<'tess' | 'tom' | 'ann', ServiceContext>

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, { ANSWER_UNDO_MS: '4000' })
  people = {
    tess: await member('Tess', 'operator'),
    tom: await member('Tom', 'operator'),
    ann: await member('Ann', 'admin'),
  }
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function member(name: string, role: Role): Promise<ServiceContext> {
  const email = `${name.toLowerCase()}@example.com`
  const { userId } = await createMember(runtime.ctx, { email, name, role, password: 'a-long-password' })
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name, sessionId: 's', role } }
}

const pauseId = 'main:ok#1'
const HOUR = 3_600_000
const DAILY = { after: 'P1D', every: 'P1D', times: 2, handTo: ['role:admin'] }
const [TESS, TOM] = ['user:tess@example.com', 'user:tom@example.com']

async function paused(more: object): Promise<string> {
  const ask = { id: 'ok', type: 'request-user-action', actions: [{ id: 'yes', label: 'Yes' }], ...more }
  const runId = await runtime.start({ steps: [ask] })
  await runtime.wait(runId, ({ status }) => status === 'paused')
  return runId
}

/** Sweeps as many hours after the task began, for this run alone: those of other tests wait for their own. */
async function sweepAt(runId: string, hours: number): Promise<number> {
  const [pause] = await database.sql<{ began: Date }[]>`select created_at as began from pauses where run_id = ${runId}`
  const at = (pause?.began.getTime() ?? Number.NaN) + hours * HOUR
  const before = await pastOf(runId)
  await sweepReminders({ db: runtime.db, log: runtime.ctx.log, now: () => new Date(at) })
  return (await pastOf(runId)).length - before.length
}
const recordOf = async (runId: string) => (await readHistory(runtime.ctx, runId, {})).stepExecutionHistory[0]
const pastOf = async (runId: string) => (await recordOf(runId))?.reminders ?? []
const signalOf = async (runId: string) => (await runtime.status(runId)).pauseSignal
const answer = (by: ServiceContext, runId: string) =>
  resumeRun(by, { runId, body: { type: 'request_user_action', pauseId, actionId: 'yes' } })

describe('reminders', () => {
  test('are sent on time, as often as the step says, and then others have the task', async () => {
    const runId = await paused({ assignees: [TESS], reminders: DAILY })
    expect(await signalOf(runId)).toMatchObject({ reminders: DAILY, remindAt: expect.any(String) })
    const sent: number[] = []
    for (const hours of [23, 24, 24.1, 47, 48, 71, 72, 96, 400]) sent.push(await sweepAt(runId, hours))
    expect(sent).toEqual([0, 1, 0, 0, 1, 0, 1, 0, 0])
    expect(await pastOf(runId)).toMatchObject([
      { to: [TESS], number: 1, times: 2 },
      { to: [TESS], number: 2, times: 2 },
      { handedTo: ['role:admin'], from: [TESS], after: 2 },
    ])
    const signal = await signalOf(runId)
    expect(signal).toMatchObject({ assignees: ['role:admin'] })
    expect(signal).not.toHaveProperty('remindAt')
    await expect(answer(people.tess, runId)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
    expect((await getTask(people.ann, { runId, pauseId })).reminders).toMatchObject([
      { handed: false, who: ['Tess'], number: 1, times: 2 },
      { handed: false, who: ['Tess'], number: 2, times: 2 },
      { handed: true, who: ['anybody with the role admin or higher'], number: 2 },
    ])
    await answer(people.ann, runId)
    expect((await runtime.wait(runId)).stepExecutionHistory[0]?.reminders).toHaveLength(3)
  })

  test('without `every` there is one; without `times` there are three; without `handTo` the assignees stay', async () => {
    const once = await paused({ assignees: [TESS], reminders: { after: 'PT1H' } })
    const thrice = await paused({ assignees: [TESS], reminders: { after: 'PT1H', every: 'PT2H' } })
    for (const hours of [1, 3, 5, 7, 9, 11]) {
      await sweepAt(once, hours)
      await sweepAt(thrice, hours)
    }
    expect(await pastOf(once)).toMatchObject([{ number: 1, times: 1 }])
    expect(await pastOf(thrice)).toMatchObject([{ number: 1 }, { number: 2 }, { number: 3, times: 3 }])
    for (const runId of [once, thrice]) {
      expect(await signalOf(runId)).toMatchObject({ assignees: [TESS] })
      await answer(people.tess, runId)
    }
  })

  test('that are late by several intervals are one, and the next follows a whole interval later', async () => {
    const runId = await paused({ assignees: [TESS], reminders: { ...DAILY, times: 5 } })
    const sent: number[] = []
    for (const hours of [24 * 10, 24 * 10 + 23, 24 * 11]) sent.push(await sweepAt(runId, hours))
    expect(sent).toEqual([1, 0, 1])
    await answer(people.tess, runId)
  })

  test('are sent once, however many processes sweep at once', async () => {
    const runId = await paused({ assignees: [TESS], reminders: DAILY })
    for (const [hours, count] of [
      [24, 1],
      [48, 2],
      [72, 3],
    ] as const) {
      await Promise.all(Array.from({ length: 5 }, () => sweepAt(runId, hours)))
      expect(await pastOf(runId)).toHaveLength(count)
    }
    await answer(people.ann, runId)
  })

  test('are noted and reported in one commit: one that fails is sent by the next sweep', async () => {
    const runId = await paused({ assignees: [TESS], reminders: DAILY })
    await database.sql.unsafe(`alter function enqueue_mail_to(text, text, text, text, json, text) rename to gone`)
    try {
      expect(await sweepAt(runId, 24)).toBe(0)
    } finally {
      await database.sql.unsafe(`alter function gone(text, text, text, text, json, text) rename to enqueue_mail_to`)
    }
    expect(await sweepAt(runId, 24)).toBe(1)
    expect(await sweepAt(runId, 24)).toBe(0)
    await answer(people.tess, runId)
  })

  test('go to the whole group once the member who has claimed the task has left it', async () => {
    const { tess, tom } = people
    const { id } = await createGroup(runtime.ctx, { name: 'Stock', memberIds: [tess.actor.id, tom.actor.id] })
    const runId = await paused({ assignees: ['group:Stock'], reminders: DAILY })
    await claimTask(tess, { runId, pauseId, to: tess.actor.id, from: null })
    await updateGroup(runtime.ctx, { id, body: { memberIds: [tom.actor.id] } })
    await sweepAt(runId, 24)
    expect(await pastOf(runId)).toMatchObject([{ to: ['group:stock'], number: 1 }])
    expect((await getTask(tom, { runId, pauseId })).claim).toBeNull()
    await answer(tom, runId)
  })

  test('are not sent for a task that was answered, has expired, was withdrawn, or has an answer that can be undone', async () => {
    const of = { assignees: [TESS], reminders: DAILY }
    const [answered, expired, withdrawn, held] = await Promise.all([
      paused(of),
      paused({ ...of, expiresIn: 'PT20H' }),
      paused(of),
      paused(of),
    ])
    await answer(people.tess, answered)
    await runtime.wait(answered)
    await cancelRun(runtime.ctx, { runId: withdrawn })
    await runtime.wait(withdrawn)
    const given = { type: 'request_user_action', pauseId, actionId: 'yes' } as const
    expect(await holdAnswer(people.tess, { runId: held, body: given })).toEqual({ undoMs: 4_000 })
    for (const runId of [answered, expired, withdrawn, held]) {
      await sweepAt(runId, 24)
      expect(await pastOf(runId)).toEqual([])
    }
    await runtime.wait(held)
    await answer(people.tess, expired)
  })
})

describe('a task that is handed over', () => {
  test('keeps its votes, and only those who have not voted are reminded', async () => {
    const runId = await paused({ assignees: [TESS, TOM], needs: { yes: 2 }, expiresIn: 'P30D', reminders: DAILY })
    await answer(people.tess, runId)
    await sweepAt(runId, 24)
    await sweepAt(runId, 48)
    await sweepAt(runId, 72)
    expect(await pastOf(runId)).toMatchObject([{ to: [TOM] }, { to: [TOM] }, { handedTo: ['role:admin'] }])
    await expect(answer(people.tom, runId)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
    expect((await getTask(people.ann, { runId, pauseId })).people.voters).toBeNull()
    expect(await answer(people.ann, runId)).toMatchObject({ status: 'running' })
    expect((await runtime.wait(runId)).data).toMatchObject({
      ok: { actionId: 'yes', votes: [{ name: 'Tess' }, { name: 'Ann' }] },
    })
  })

  test('counts those who voted before it was handed over among its voters, each once', async () => {
    const ann = 'user:ann@example.com'
    for (const [handTo, voters] of [
      [[TOM, ann], 3],
      [[TESS, ann], 2],
    ] as const) {
      const reminders = { after: 'P1D', handTo }
      const runId = await paused({ assignees: [TESS, TOM], needs: { yes: 2 }, expiresIn: 'P30D', reminders })
      await answer(people.tess, runId)
      await sweepAt(runId, 24)
      await sweepAt(runId, 48)
      const seen = (await getTask(people.ann, { runId, pauseId })).people
      expect(seen).toMatchObject({ voters, votes: [{ name: 'Tess' }] })
      await answer(people.ann, runId)
      await runtime.wait(runId)
    }
  })

  test('keeps a claim of a member who may still answer, and ends any other', async () => {
    const of = (handTo: string[]) => paused({ assignees: [TESS, TOM], reminders: { after: 'P1D', handTo } })
    const [stays, ends] = await Promise.all([of([TESS, 'role:admin']), of(['role:admin'])])
    const { tess, ann } = people
    for (const runId of [stays, ends]) await claimTask(tess, { runId, pauseId, to: tess.actor.id, from: null })
    for (const runId of [stays, ends]) {
      await sweepAt(runId, 24)
      expect(await pastOf(runId)).toMatchObject([{ to: [TESS] }])
    }
    for (const runId of [stays, ends]) await sweepAt(runId, 48)
    expect((await getTask(ann, { runId: stays, pauseId })).claim).toMatchObject({ id: tess.actor.id })
    expect((await getTask(ann, { runId: ends, pauseId })).claim).toBeNull()
    await answer(tess, stays)
    await answer(ann, ends)
  })

  test('to a group is answered by its members', async () => {
    const { tess, tom } = people
    await createGroup(runtime.ctx, { name: 'Finance', memberIds: [tom.actor.id] })
    const runId = await paused({ assignees: [TESS], reminders: { after: 'P1D', handTo: ['group:Finance'] } })
    await sweepAt(runId, 24)
    await sweepAt(runId, 48)
    expect((await getTask(tom, { runId, pauseId })).reminders).toMatchObject([
      { handed: false },
      { handed: true, who: ['anybody in the group Finance'] },
    ])
    await expect(answer(tess, runId)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
    await answer(tom, runId)
  })

  test('cannot be answered by those who had it before, even if this process asked them just now', async () => {
    const runId = await paused({ reminders: { after: 'PT1H', handTo: ['role:admin'] } })
    await sweepAt(runId, 1)
    await sweepAt(runId, 2)
    expect(await pastOf(runId)).toMatchObject([{ to: null }, { handedTo: ['role:admin'], from: null }])
    await expect(answer(people.tess, runId)).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
    await answer(people.ann, runId)
    expect((await runtime.wait(runId)).stepExecutionHistory[0]?.reminders).toHaveLength(2)
  })
})
