import { expect } from 'vitest'
import type { PresentedRun } from '@/server/runs/present'
import type { TestRuntime } from '../support/runtime'
import { type Graph, resumeBody } from './reference'

/** Runs a graph to its end, with the answers of its nodes. Null if it cannot run at all: it has an endless loop. */
export async function runGraph(runtime: TestRuntime, graph: Graph, definition: object): Promise<PresentedRun | null> {
  const { resumeRun } = await import('@/server/runs/resume')
  let runId: string
  try {
    runId = await runtime.start(definition)
  } catch (err) {
    expect(err).toMatchObject({ code: 'VALIDATION_FAILED' })
    const { details } = err as { details: { code: string }[] }
    expect(new Set(details.map(({ code }) => code)), JSON.stringify({ details, definition })).toEqual(
      new Set(['CYCLE']),
    )
    return null
  }
  for (;;) {
    const run = await runtime.wait(runId, ({ status }) => status !== 'running', 60_000)
    if (run.status !== 'paused') return run
    const { pauseSignal } = run
    const node = graph.nodes.find(({ id }) => id === run.currentStepId)
    if (!node || !pauseSignal) throw new Error(`paused at ${run.currentStepId}`)
    const pauseId = pauseSignal.id
    // Meanwhile another branch may have ended the run.
    await resumeRun(runtime.ctx, { runId, body: { ...resumeBody(node, pauseId), pauseId } }).catch((err) =>
      expect(err).toMatchObject({ code: 'RUN_NOT_PAUSED' }),
    )
  }
}
