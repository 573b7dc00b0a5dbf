import { named } from '@/app/_ui/sentence'
import { writtenIds } from '@/server/definition/expand'
import type { Definition } from '@/server/definition/schema'
import type { ErrorDetail } from '@/server/errors'
import type { Catalog } from '@/server/steps/catalog'
import type { Problem } from '@/server/workflows/check/problem'
import { exitLabel, exitsOf, findStep, nameOf, stepLabel } from './definition'
import { fieldLabel, inWords, inWordsBehind, textOf } from './problem-words'

/**
 * Where the check's messages name steps and exits. The groups `of`, `step` and `other` are ids of steps, `steps` is a
 * list of them, `exit` and `otherExit` are exits of the step `of`, and the remaining groups are words for which screens
 * have others.
 */
const NAMED: Partial<Record<Problem['code'], readonly RegExp[]>> = {
  NO_INITIAL_STEP: [/has no (?<initial>initial) step/d],
  UNKNOWN_INITIAL_STEP: [/^The (?<initial>initial) step/d],
  DANGLING_EDGE: [/^The (?<edge>edge) from (?<step>\S+) to (?<other>\S+) refers to the step/d],
  AMBIGUOUS_EDGES: [/^(?<of>\S+) has two (?<edges>edges) for the exit (?<exit>.+); a run/d],
  UNKNOWN_EXIT: [/^(?<step>\S+) ends the run, so no (?<edge>edge) may/d, /^(?<step>\S+) has no exit /d],
  W_EMPTY_BRANCH: [/^The exit (?<exit>.+) of (?<of>\S+) leads nowhere/d],
  W_NO_END: [
    /^The path ends at the exit (?<exit>.+) of (?<of>\S+) without/d,
    /^The path ends at (?<step>\S+) without/d,
  ],
  W_UNREACHABLE: [/^No path leads to (?<step>\S+)\.$/d],
  CYCLE: [/^The steps (?<steps>.+) form a loop/d],
  CYCLE_WITHOUT_BOUND: [/^The loop (?<steps>.+) has no limit\. Set (?<bound>maxVisits) on/d],
  PAUSE_IN_CLEANUP: [/^(?<step>\S+) waits/d],
  FORK_IN_CLEANUP: [/^(?<step>\S+) runs branches/d],
  REGION_ENTERED: [
    /^The branch (?<exit>.+) of (?<of>\S+) leads back to (?<other>\S+) itself/d,
    /^(?<step>\S+) belongs to the branch (?<exit>.+) of (?<of>\S+), so nothing else/d,
    /^(?<step>\S+) belongs to the branch (?<exit>.+) of (?<of>\S+), so (?<other>\S+) cannot/d,
  ],
  NESTED_TOO_DEEP: [/^(?<step>\S+) is nested in/d, /^The ids of (?<step>\S+), of the steps/d],
  W_BRANCH_OPEN: [/^(?<step>\S+) may add fields/d],
  BRANCH_CONFLICT: [/^The branches (?<exit>.+) and (?<otherExit>.+) of (?<of>\S+) both write/d],
  W_REF_MAYBE: [/: not every path gives (?<steps>.+?)(?: and \d+ other steps)? a value for it\./d],
}

const WORDS: Record<string, string> = {
  initial: 'first',
  edge: 'connection',
  edges: 'connections',
  bound: '“Maximum visits”',
}

/**
 * Adds to each problem the text for screens, `said`: the check's message with the names of steps and the labels of
 * exits. The message itself keeps their ids, which the API's callers and the fixes read.
 */
export function withNames(
  problems: readonly Problem[],
  definition: Definition,
  catalog: Catalog | undefined,
): Problem[] {
  const idOf = writtenIds(definition)
  return problems.map((problem) => {
    const said = saidOf(problem, definition, catalog, idOf)
    return said === problem.message ? problem : { ...problem, said }
  })
}

function saidOf(
  { code, message }: Problem,
  definition: Definition,
  catalog: Catalog | undefined,
  idOf: (stepId: string) => string,
): string {
  const found = NAMED[code]?.map((pattern) => pattern.exec(message)).find((match) => match !== null)
  const places = Object.entries(found?.indices?.groups ?? {}).toSorted(([, [a]], [, [b]]) => a - b)
  const exits = catalog ? exitsOf(definition, catalog, idOf(found?.groups?.of ?? '')) : []
  const shown = (group: string, text: string): string => {
    const word = WORDS[group]
    if (word !== undefined) return word
    if (group === 'exit' || group === 'otherExit') return quoted(exitLabel(exits, text), text)
    if (group === 'steps') return text.replace(/[^\s,→]+/g, (id) => stepName(definition, idOf(id), id))
    return stepName(definition, idOf(text), text)
  }
  let said = ''
  let at = 0
  for (const [group, [from, to]] of places) {
    said += message.slice(at, from) + shown(group, message.slice(from, to))
    at = to
  }
  return said + message.slice(at)
}

/** A detail of an error as one line. Those that refuse a draft are its problems. */
export function detailText(detail: ErrorDetail, definition: Definition, catalog: Catalog | undefined): string {
  if (!isProblem(detail)) return named(detail.path, detail.message)
  const [problem = detail] = withNames([detail], definition, catalog)
  if (problem.stepId === undefined) return inWords(textOf(problem))
  const field = fieldLabel(definition, catalog, problem)
  return `${stepLabel(definition, problem.stepId)}${field === '' ? '' : ` · ${field}`}: ${inWordsBehind(problem)}`
}

function isProblem(detail: ErrorDetail): detail is ErrorDetail & Problem {
  return typeof detail.severity === 'string' && typeof detail.code === 'string'
}

function stepName(definition: Definition, stepId: string, written: string): string {
  const step = findStep(definition, stepId)
  return step ? quoted(nameOf(step), step.id) : written
}

function quoted(name: string, id: string): string {
  return name === id ? id : `“${name}”`
}
