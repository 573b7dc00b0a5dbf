import { and, eq, inArray } from 'drizzle-orm'
import { expect } from 'vitest'
import { walks } from '@/db/schema/runs'
import type { JsonObject } from '@/server/definition/json'
import type { PauseSignal } from '@/server/definition/run'
import type { Expected } from '@/server/definition/test-case'
import { resumeRun } from '@/server/runs/resume'
import { keepWorkflowCase, runWorkflowCases } from '@/server/workflows/test-cases'
import type { TestRuntime } from '../support/runtime'

const never = new AbortController().signal

/** Makes runs, keeps them as test cases, and runs these, as people do. */
export function keptRuns(runtime: () => TestRuntime) {
  /** Runs a definition, answers its pauses, and returns the ended run. */
  async function ended(definition: object, data: JsonObject, answers: JsonObject = {}) {
    const runId = await runtime().start(definition, data)
    for (;;) {
      const run = await runtime().wait(runId, ({ status }) => status !== 'running')
      await allWait(runId)
      const [pause] = run.pauseSignals as ({ id: string } & PauseSignal)[]
      if (run.status !== 'paused' || !pause) return run
      const given = answers[pause.stepId] ?? 'yes'
      const body =
        pause.type === 'collect_inputs'
          ? { type: pause.type, pauseId: pause.id, data: given }
          : { type: pause.type, pauseId: pause.id, ...(typeof given === 'object' ? given : { actionId: given }) }
      await resumeRun(runtime().ctx, { runId, body })
      await runtime().wait(runId, (now) => now.status !== 'paused' || now.pauseSignal?.id !== pause.id)
    }
  }

  /** So that people answer after the other branches have come to where they wait. */
  const allWait = (runId: string) =>
    expect
      .poll(() =>
        runtime().db.$count(
          walks,
          and(eq(walks.runId, runId), inArray(walks.status, ['queued', 'requested', 'walking'])),
        ),
      )
      .toBe(0)

  async function kept(
    run: { runId: string; workflowId: string },
    expected: Expected | { kind: 'same' },
    name = 'Kept',
  ) {
    const { id } = await keepWorkflowCase(runtime().ctx, {
      id: run.workflowId,
      body: { name, runId: run.runId, expected },
    })
    return { id: run.workflowId, caseId: id }
  }
  const results = async (id: string) => (await runWorkflowCases(runtime().ctx, { id, body: {} }, never)).results
  return { ended, kept, results }
}
