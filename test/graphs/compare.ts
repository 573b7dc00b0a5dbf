import { expect } from 'vitest'
import type { JsonObject } from '@/server/definition/json'
import type { PresentedRun } from '@/server/runs/present'
import { definitionOf } from './generate'
import { type Graph, type Walked, walkGraph } from './reference'

/** An ended run in the words of the reference. */
export function walkedBy(run: PresentedRun): Walked {
  const { error, ...data } = run.data as JsonObject
  const { message: _message, ...shown } = (error ?? {}) as JsonObject
  return {
    visits: visitsOf(run),
    data: withoutMessages(error === undefined ? data : { ...data, error: shown }),
    outcome: run.outcome as Walked['outcome'],
    error: run.error?.code ?? null,
  }
}

/** The visits of each walk. Branches stopped with their fork are excluded: their progress depends on time. */
function visitsOf({ stepExecutionHistory }: PresentedRun): Record<string, string[]> {
  const visits: Record<string, string[]> = {}
  for (const { branch, stepId, visit, exit, errorCode } of stepExecutionHistory) {
    if (errorCode === 'STOPPED') continue
    const walk = branch === undefined ? 'main' : `main/${branch}`
    visits[walk] ??= []
    visits[walk].push(`${stepId}#${visit}${exit ? ` ${exit}` : ''}`)
  }
  return visits
}

/** The errors that a for-each collects, without their messages. */
function withoutMessages(data: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(data, (key, value) => (key === 'message' ? undefined : value)))
}

/** Compares, and where branches were stopped, only checks that they did nothing else. */
export function expectSame(found: Walked, graph: Graph, input: JsonObject, seed: number): void {
  const { loose, unsure, ...expected } = walkGraph(graph, input)
  const label = `seed ${seed}: ${JSON.stringify(definitionOf(graph, ''))}`
  if (unsure) return
  const isLoose = (walk: string) => loose.some((scope) => walk.startsWith(`${scope}/`))
  const sure = ({ visits, ...rest }: Walked) => ({
    ...rest,
    visits: Object.fromEntries(Object.entries(visits).filter(([walk, made]) => !isLoose(walk) && made.length > 0)),
  })
  expect(sure(found), label).toEqual(sure(expected))
  for (const [walk, visits] of Object.entries(found.visits))
    expect((expected.visits[walk] ?? []).slice(0, visits.length), label).toEqual(visits)
}
