import { eq } from 'drizzle-orm'
import { expect, vi } from 'vitest'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '@/server/context'
import type { PresentedRun } from '@/server/runs/present'
import { startRun } from '@/server/runs/start'
import { getRunStatus } from '@/server/runs/status'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { BROKEN, type Case, type Situation } from './cases'
import type { World } from './world'

/** Starts the run of a case. @returns its id */
export async function startCase(ctx: ServiceContext, world: World, type: string, name: string, one: Case) {
  const { step, body, first, exit, catches, limits } = one
  const { id } = await createWorkflow(ctx, {
    name,
    payload: { wrong: { type: 'any' } },
    initialStep: first ? 'first' : 'it',
    steps: [
      ...(first ? [{ id: 'first', type: 'http-request', url: `${world.url}/holds/${name}`, saveAs: 'first' }] : []),
      { id: 'it', type, ...step },
      ...(body?.steps ?? []),
      ...(exit === undefined ? [] : [{ id: 'on', type: 'set-data', values: { on: true } }]),
      ...(catches ? [{ id: 'mend', type: 'set-data', values: { why: '${error.code}' } }] : []),
      { id: 'tidy', type: 'set-data', values: { tidied: true } },
    ],
    edges: [
      ...(first ? [{ from: 'first', to: 'it' }] : []),
      ...(body?.edges ?? []),
      ...(exit === undefined ? [] : [{ from: 'it', to: 'on', on: exit }]),
      ...(catches ? [{ from: 'it', to: 'mend', on: catches }] : []),
    ],
    onCancel: 'tidy',
    ...(limits ? { limits } : {}),
  })
  return (await startRun(ctx, { workflowId: id, body: BROKEN })).runId
}

const ASKS = ['collect-inputs', 'request-user-action']

/** Waits until a run is in its step: its call was made, or it waits. */
export async function comesTo(
  ctx: ServiceContext,
  world: World,
  runId: string,
  name: string,
  one: Case,
  /** The branches that must have ended by then, as `branch/step status`. */
  ended: readonly string[] = [],
) {
  const open = one.first ? 'first' : 'it'
  // Except on the embedded engine, a step's task opens a little after its record.
  const isOpen = ({ stepExecutionHistory: history, status }: PresentedRun) =>
    history.some(
      ({ stepId, stepType, endTime }) =>
        stepId === open && endTime === undefined && (status === 'paused' || !ASKS.includes(stepType)),
    )
  const come = async () => {
    const run = await getRunStatus(ctx, { runId })
    expect(isOpen(run)).toBe(true)
    expect(named(run.stepExecutionHistory)).toEqual(expect.arrayContaining([...ended]))
    if (one.calls > 0) expect(world.calls(name)).toBe(1)
  }
  await vi.waitFor(come, { timeout: 60_000, interval: 25 })
}

function named(history: PresentedRun['stepExecutionHistory']): string[] {
  return history.map(({ branch, stepId, status }) => `${branch ? `${branch}/` : ''}${stepId} ${status}`)
}

/** Checks how a case's run ended: each record once, and each call as often as expected. */
export async function checkCase(
  ctx: ServiceContext,
  world: World,
  run: PresentedRun,
  name: string,
  one: Case,
  situation: Situation,
) {
  const { record, branches = [], exit, catches, first, calls } = one
  const history = run.stepExecutionHistory
  expect(run).toMatchObject(one.run)
  expect(history.find(({ stepId }) => stepId === 'it')).toMatchObject(record)
  const ended = 'status' in record ? record.status : ''
  const goesOn = ended === 'completed' && exit !== undefined
  const seen = named(history)
  const expected = [
    ...(first ? ['first completed'] : []),
    `it ${ended}`,
    // A branch stopped by another one's failure may not have come that far.
    ...branches.filter((branch) => ended !== 'failed' || branch.endsWith(' failed') || seen.includes(branch)),
    ...(goesOn ? ['on completed'] : []),
    ...(catches && ended === 'failed' ? ['mend completed'] : []),
    ...(situation === 'cancel in it' ? ['tidy completed'] : []),
  ]
  expect(seen.sort()).toEqual(expected.sort())
  expect(history.every(({ visit, endTime }) => visit === 1 && endTime !== undefined)).toBe(true)
  expect(world.calls(name)).toBe(calls)
  // The receiver can distinguish a second attempt from another visit.
  expect(world.keys(name).length).toBeLessThanOrEqual(1)
  const children = () => ctx.db.select({ outcome: runs.outcome }).from(runs).where(eq(runs.parentRunId, run.runId))
  // A run that nobody waits for any more ends a little later.
  const settled = async () => expect(await children()).toEqual(one.child ? [{ outcome: one.child }] : [])
  await vi.waitFor(settled, { timeout: 60_000, interval: 25 })
}
