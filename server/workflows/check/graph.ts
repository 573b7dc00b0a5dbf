import { beginsBranch, exitOf, exitsOf, FAILURE_EXITS, fallsToNext } from '../../definition/exits'
import { cyclesOf } from '../../definition/graph'
import { pathText } from '../../definition/json'
import { hasWayOut, isBounded } from '../../definition/loops'
import { edgesBySource, reachable, stepsAside } from '../../definition/paths'
import type { Region } from '../../definition/regions'
import type { Definition, Step } from '../../definition/schema'
import { atOnce, type Sliced } from '../../definition/sliced'
import { CommonConfig } from '../../definition/step-config'
import { findStepType } from '../../steps/registry'
import { flowing, type KnownOutput } from './flow'
import type { Problem } from './problem'
import { bodiesOf, checkRegions } from './regions'
import { checkReferences } from './scope'

/** `checkingGraph` without interruption. */
export function checkGraph(definition: Definition, outputs?: ReadonlyMap<string, KnownOutput>): Problem[] {
  return atOnce(checkingGraph(definition, outputs))
}

/**
 * The problems that prevent a definition from running. Pure: the verb, which has the database, checks the tools and
 * agents of steps.
 * @param outputs facts about steps' outputs from the schemas of the called objects
 */
export function* checkingGraph(definition: Definition, outputs?: ReadonlyMap<string, KnownOutput>): Sliced<Problem[]> {
  const problems: Problem[] = []
  const add = (
    severity: Problem['severity'],
    code: Problem['code'],
    message: string,
    at: { stepId?: string; field?: string } = {},
  ) => problems.push({ severity, code, message, ...at })
  const { steps, edges, initialStep } = definition
  const ids = new Set(steps.map((step) => step.id))

  if (steps.length === 0) add('error', 'NO_STEPS', 'The workflow has no steps.', { field: 'steps' })
  else if (initialStep === null)
    add('error', 'NO_INITIAL_STEP', 'The workflow has no initial step.', { field: 'initialStep' })
  else if (!ids.has(initialStep))
    add('error', 'UNKNOWN_INITIAL_STEP', `The initial step ${initialStep} does not exist.`, { field: 'initialStep' })

  const seen = new Set<string>()
  for (const step of steps) {
    yield
    if (seen.has(step.id))
      add('error', 'DUPLICATE_STEP_ID', `Two steps have the id ${step.id}.`, { stepId: step.id, field: 'id' })
    seen.add(step.id)
    problems.push(...checkStep(step))
  }

  for (const [index, edge] of edges.entries()) {
    for (const end of ['from', 'to'] as const) {
      if (!ids.has(edge[end])) {
        add(
          'error',
          'DANGLING_EDGE',
          `The edge from ${edge.from} to ${edge.to} refers to the step ${edge[end]}, which does not exist.`,
          {
            ...(ids.has(edge.from) ? { stepId: edge.from } : {}),
            field: `edges[${index}].${end}`,
          },
        )
      }
    }
  }
  yield
  const regions = bodiesOf(definition)
  yield
  problems.push(...checkExits(definition, regions))
  yield
  problems.push(...checkShape(definition))
  yield
  problems.push(...checkRegions(definition, regions))
  if (problems.some((problem) => problem.severity === 'error')) return problems
  const flow = yield* flowing(definition, outputs)
  return problems.concat(yield* checkReferences(definition, flow))
}

/** Zod's own message for a missing value is about types. */
const whatIsMissing = ({ code, input }: { code?: string; input?: unknown }) =>
  code === 'invalid_type' && input === undefined ? 'A value is required.' : undefined

function checkStep(step: Step): Problem[] {
  const at = (field: string, message: string, code: Problem['code'] = 'INVALID_CONFIG'): Problem => ({
    severity: 'error',
    code,
    message,
    stepId: step.id,
    field,
  })
  const type = findStepType(step.type)
  if (!type) return [at('type', `The step type ${step.type} does not exist.`, 'UNKNOWN_STEP_TYPE')]
  const problems: Problem[] = []
  for (const schema of [CommonConfig, type.config]) {
    const result = schema.safeParse(step, { error: whatIsMissing })
    if (result.success) continue
    for (const issue of result.error.issues) problems.push(at(pathText(issue.path), issue.message))
  }
  if (problems.length === 0) {
    const config = type.config.parse(step)
    for (const { field, message } of type.check?.(config) ?? []) problems.push(at(field, message))
    for (const { field, message } of type.doubts?.(config) ?? [])
      problems.push({ ...at(field, message, 'W_REMINDERS'), severity: 'warning' })
  }
  return problems
}

function checkExits(definition: Definition, regions: readonly Region[]): Problem[] {
  const problems: Problem[] = []
  const aside = stepsAside(definition)
  const inBody = new Set(regions.flatMap(({ steps }) => [...steps]))
  const leaving = edgesBySource(definition.edges)
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    if (!type) continue
    const exits = exitsOf(type.exits, step)
    const taken = new Set<string>()
    for (const edge of leaving.get(step.id) ?? []) {
      const exit = exitOf(edge)
      if (taken.has(exit)) {
        const message = `${step.id} has two edges for the exit ${exit}; a run could only take one.`
        problems.push({ severity: 'error', code: 'AMBIGUOUS_EDGES', message, stepId: step.id, field: 'edges' })
      }
      taken.add(exit)
      if (!exits.some(({ id }) => id === exit)) {
        const message =
          exits.length === 0 ? `${step.id} ends the run, so no edge may leave it.` : `${step.id} has no exit ${exit}.`
        problems.push({ severity: 'error', code: 'UNKNOWN_EXIT', message, stepId: step.id, field: 'edges' })
      }
    }
    if (aside.has(step.id)) continue
    for (const { id } of exits) {
      if (taken.has(id) || FAILURE_EXITS.includes(id) || fallsToNext(type.exits, id)) continue
      if (beginsBranch(type.exits, id)) {
        const message = `The exit ${id} of ${step.id} leads nowhere, so nothing happens there.`
        problems.push({ severity: 'warning', code: 'W_EMPTY_BRANCH', message, stepId: step.id })
        continue
      }
      // A path within a branch may end anywhere.
      if (inBody.has(step.id)) continue
      // If every action has its own edge, no run takes `next`.
      const actions = exits.filter((exit) => fallsToNext(type.exits, exit.id))
      if (id === 'next' && actions.length > 0 && actions.every((action) => taken.has(action.id))) continue
      const where = id === 'next' ? step.id : `the exit ${id} of ${step.id}`
      const message = `The path ends at ${where} without an end step; the result will be all run data.`
      problems.push({ severity: 'warning', code: 'W_NO_END', message, stepId: step.id })
    }
  }
  return problems
}

function checkShape(definition: Definition): Problem[] {
  const problems: Problem[] = []
  problems.push(...checkLoops(definition))
  const aside = stepsAside(definition)
  problems.push(...checkAside(definition, 'onCancel', 'cleanup'), ...checkAside(definition, 'onFailure', 'failure'))
  if (definition.initialStep === null) return problems
  const reached = reachable(definition, definition.initialStep)
  for (const step of definition.steps) {
    if (!reached.has(step.id)) {
      if (aside.has(step.id)) continue
      problems.push({
        severity: 'warning',
        code: 'W_UNREACHABLE',
        message: `No path leads to ${step.id}.`,
        stepId: step.id,
      })
    }
  }
  return problems
}

/** A loop needs a way out, and a bound: a step with `maxVisits` on every cycle. */
function checkLoops(definition: Definition): Problem[] {
  const problem = (code: Problem['code'], group: string[], explain: (path: string) => string): Problem[] => {
    const inside = new Set(group)
    const path = findCycle({
      ...definition,
      edges: definition.edges.filter(({ from, to }) => inside.has(from) && inside.has(to)),
    })
    const stepId = path?.[0]
    if (!path || stepId === undefined) return []
    return [{ severity: 'error', code, message: explain(path.join(' → ')), stepId, field: 'edges' }]
  }
  const specOf = (step: Step) => findStepType(step.type)?.exits
  const endless = cyclesOf(definition).filter((group) => !hasWayOut(definition, new Set(group), specOf))
  const lost = new Set(endless.flat())
  const unbounded = cyclesOf(definition, isBounded).filter((group) => !group.some((id) => lost.has(id)))
  return [
    ...endless.flatMap((group) =>
      problem('CYCLE', group, (path) => `The steps ${path} form a loop that a run would never leave.`),
    ),
    ...unbounded.flatMap((group) => {
      const rest = group.filter((id) => !isBounded(definition.steps.find((step) => step.id === id) ?? { id, type: '' }))
      return problem(
        'CYCLE_WITHOUT_BOUND',
        rest,
        (path) => `The loop ${path} has no limit. Set maxVisits on one of its steps.`,
      )
    }),
  ]
}

/** Whether a step waits for a person, and not only for a time. */
function asksPeople({ type }: Step): boolean {
  const found = findStepType(type)
  return found?.mode === 'pause' && !found.elapses
}

/** Such a path must exist and must not wait or run branches: an ending run has to finish by itself. */
function checkAside(definition: Definition, field: 'onCancel' | 'onFailure', word: string): Problem[] {
  const { [field]: first, steps } = definition
  if (first === undefined) return []
  if (!steps.some((step) => step.id === first)) {
    const message = `The first step of the ${word} path, ${first}, does not exist.`
    const code = field === 'onCancel' ? 'UNKNOWN_ON_CANCEL' : 'UNKNOWN_ON_FAILURE'
    return [{ severity: 'error', code, message, field }]
  }
  const path = reachable(definition, first)
  return steps.flatMap((step): Problem[] => {
    const mode = path.has(step.id) ? findStepType(step.type)?.mode : undefined
    if (mode !== 'pause' && mode !== 'fork') return []
    const does = mode === 'fork' ? 'runs branches' : asksPeople(step) ? 'waits for a person' : 'waits'
    return [
      {
        severity: 'error',
        code: mode === 'fork' ? 'FORK_IN_CLEANUP' : 'PAUSE_IN_CLEANUP',
        message: `${step.id} ${does}; no step of the ${word} path may do that.`,
        stepId: step.id,
        field: 'type',
      },
    ]
  })
}

/** Iterative, because a definition may have 2,000 steps. */
function findCycle(definition: Definition): string[] | null {
  const leaving = edgesBySource(definition.edges)
  const state = new Map<string, 'open' | 'done'>()
  for (const { id: start } of definition.steps) {
    const path: { id: string; next: number }[] = state.has(start) ? [] : [{ id: start, next: 0 }]
    for (let top = path.at(-1); top; top = path.at(-1)) {
      state.set(top.id, 'open')
      const target = leaving.get(top.id)?.[top.next++]?.to
      if (target === undefined) {
        state.set(top.id, 'done')
        path.pop()
      } else if (state.get(target) === 'open') {
        const ids = path.map((entry) => entry.id)
        return [...ids.slice(ids.indexOf(target)), target]
      } else if (!state.has(target)) path.push({ id: target, next: 0 })
    }
  }
  return null
}
