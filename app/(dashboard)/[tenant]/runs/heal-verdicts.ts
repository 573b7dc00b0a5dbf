import type { Verdict } from '@/server/definition/verdict'
import type { Judged } from '@/server/definition/verdict-groups'
import type { RefusedRun } from '@/server/runs/retry-many'
import { runsText } from '../runs-text'

/** The runs that get past the step at which they failed, and those that only a retry can show. */
export interface Healed {
  passes: string[]
  unsure: string[]
  lines: string[]
}

/** What became of the runs of a cause on the draft, in sentences. */
export function healedBy(judged: readonly Judged[], stepName: string): Healed {
  const idsOf = (is: (verdict: Verdict) => boolean) => judged.flatMap((one) => (is(one.verdict) ? [one.runId] : []))
  const onward = (way: string) => (verdict: Verdict) => verdict.is === 'passes' && verdict.onward === way
  const needs = (why: string) => (verdict: Verdict) => verdict.is === 'untold' && verdict.needs.why === why
  const [ends, unknown, later] = ['ends', 'unknown', 'fails'].map((way) => idsOf(onward(way)))
  const again = idsOf(({ is }) => is === 'fails')
  const [same, other] = [idsOf(needs('same call')), idsOf(needs('new call'))]
  const passes = [...(ends ?? []), ...(unknown ?? [])]
  const named = passes.length + (later?.length ?? 0) + again.length + same.length + other.length
  const rest = judged.length - named
  const lines = [
    `${count(passes.length)} of ${runsText(judged.length)} ${passes.length === 1 ? 'gets' : 'get'} past ${stepName}.`,
    ...line(ends?.length, ['goes', 'go'], 'on to the end.'),
    ...line(unknown?.length, ['goes', 'go'], 'on to a call or a question that no run has had.'),
    ...line(later?.length, ['fails', 'fail'], 'at a later step.'),
    ...line(again.length, ['fails', 'fail'], 'there again.'),
    ...line(other.length, 'would make', 'the failed call with other arguments: only a retry shows its result.'),
    ...line(same.length, 'would make', 'the same call again: the draft changes nothing about it.'),
    ...line(rest, ['has', 'have'], 'an open outcome.'),
  ]
  return { passes, unsure: [...other, ...same], lines }
}

const count = (number: number) => number.toLocaleString('en')

function line(number: number | undefined, verb: string | [one: string, many: string], rest: string): string[] {
  if (!number) return []
  const [one, many] = typeof verb === 'string' ? [verb, verb] : verb
  return [`${count(number)} ${number === 1 ? one : many} ${rest}`]
}

/** The runs that were skipped only because calls would be made again, and the ids of the steps that make them. */
export function repeating(refused: readonly RefusedRun[]): { runIds: string[]; stepIds: string[] } {
  const only = refused.filter(
    ({ details }) =>
      details !== undefined && details.length > 0 && details.every(({ code }) => code === 'CALL_REPEATED'),
  )
  const stepIds = only.flatMap(({ details = [] }) =>
    details.flatMap(({ stepId }) => (typeof stepId === 'string' ? [stepId] : [])),
  )
  return { runIds: only.map(({ runId }) => runId), stepIds: [...new Set(stepIds)] }
}
