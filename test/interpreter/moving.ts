import { type MovesMade, moveRuns } from '@/server/runs/moves/move'
import type { PresentedRun } from '@/server/runs/present'
import { startRun } from '@/server/runs/start'
import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import type { TestRuntime } from '../support/runtime'

type Steps = { id: string; type: string; [field: string]: unknown }[]
export interface Drawn {
  steps: Steps
  edges: { from: string; to: string; on?: string }[]
  [field: string]: unknown
}

/** The steps one after the other. */
export const path = (...steps: Steps): Drawn => ({
  steps,
  initialStep: steps[0]?.id ?? '',
  edges: steps.slice(1).map(({ id }, i) => ({ from: steps[i]?.id ?? '', to: id })),
})
export const ask = (more: object = {}) => ({
  id: 'ask',
  type: 'collect-inputs',
  output: { n: { type: 'number' } },
  ...more,
})
export const decide = (more: object = {}) => ({
  id: 'ask',
  type: 'request-user-action',
  actions: [{ id: 'ok', label: 'OK' }],
  ...more,
})
export const say = (text: string) => ({ id: 'say', type: 'set-data', values: { said: text } })

export const END = 10_000
export const asksTwice = ({ pauseSignals }: PresentedRun) => pauseSignals.length === 2
export const isPaused = ({ status }: PresentedRun) => status !== 'running'
export const hasBegun = ({ stepExecutionHistory }: PresentedRun) => stepExecutionHistory.length > 0

/** A run that waits in the first version, and a second version that is published then. */
export async function waiting(
  { ctx, wait }: TestRuntime,
  before: Drawn,
  after: Drawn,
  { data = {}, until = isPaused }: { data?: object; until?: (run: PresentedRun) => boolean } = {},
) {
  const { id: workflowId } = await createWorkflow(ctx, { name: 'Moved', ...before } as never)
  const { version: from } = await publishWorkflow(ctx, { id: workflowId })
  const publish = async (next = after) => {
    await updateWorkflow(ctx, { id: workflowId, body: { onFailure: null, onCancel: null, ...next } as never })
    return (await publishWorkflow(ctx, { id: workflowId })).version
  }
  const { runId } = await startRun(ctx, { workflowId, body: data })
  await wait(runId, until, END)
  const to = await publish()
  const move = (more: object = {}) => moveRuns(ctx, { workflowId, toVersion: to, runIds: [runId], ...more })
  return { workflowId, runId, from, to, move, publish }
}

/** The result of a call for its one run. */
export function told({ moved, refused }: MovesMade): string {
  const [one] = moved
  if (one) return one.verdict
  const [no] = refused
  if (!no) return 'nothing'
  return no.code === 'MOVE_REFUSED' ? [no.verdict, ...no.reasons.map(({ code }) => code)].join(' ') : no.code
}
