import { mayAsk as mayAskAboutCalls } from '../agents/approval'
import type { LoadedAgent } from '../agents/find'
import { mayAskAtLimits } from '../agents/limits'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { expand, writtenIds } from '../definition/expand'
import { checkGiven } from '../definition/fields'
import type { JsonObject } from '../definition/json'
import { withPins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import { findRowAt } from '../versioned/row-at'
import { advice } from './advice'
import { askingAgents } from './check/asking-agents'
import { requireRunnable } from './check/definition'
import { knownOutputs } from './check/known-outputs'
import type { Problem } from './check/problem'
import { WORKFLOW } from './noun'
import { SimulateWorkflow } from './schema'
import { type Budget, type Explored, explore, type Simulation } from './simulation/explore'

const BUDGET: Budget = { paths: 100, visits: 20_000, ms: 1_000 }
/** Publishing waits for it. */
const HINTS_BUDGET: Budget = { paths: 24, visits: 2_000, ms: 60 }

export interface SimulatedWorkflow extends Simulation {
  workflowId: string
  version: number
  /** Reached steps whose agents may ask people about their calls. */
  mayAsk: string[]
}

/**
 * Walks a saved version with generated values on many paths, without executing anything: which steps and exits are
 * reached, which expressions fail, and which agents may ask people.
 * @throws AppError WORKFLOW_NOT_FOUND, VALIDATION_FAILED if it could not run, INVALID_INPUT
 */
export async function simulateWorkflow(
  ctx: ServiceContext,
  input: { id: string; body: unknown },
): Promise<SimulatedWorkflow> {
  authorize(ctx, 'workflow:simulate')
  const { data, answers, version: wanted } = parseInput(SimulateWorkflow, input.body)
  const { row, version } = await findRowAt(ctx, WORKFLOW, input.id, wanted)
  const written = withPins(WORKFLOW.contentOf(version), version.pins)
  const steps = new Set(written.steps.map(({ id }) => id))
  const details = [
    ...checkGiven(written.payload, data).map(({ path, message }) => ({ path: `data.${path}`, message })),
    ...Object.keys(answers)
      .filter((id) => !steps.has(id))
      .map((id) => ({ path: `answers.${id}`, message: 'is not the id of a step' })),
  ]
  if (details.length > 0) throw new AppError('INVALID_INPUT', { details })
  await requireRunnable(ctx, written)
  const { completed: _ofJudges, asking, ...found } = await simulated(ctx, written, { data, answers }, BUDGET)
  const isLimited = written.limits?.agents !== undefined
  const asks = (agent: LoadedAgent) => mayAskAboutCalls(agent.config) || mayAskAtLimits(agent, isLimited)
  const mayAsk = [...(await askingAgents(ctx, written, asking, asks)).keys()]
  return { workflowId: row.id, version: version.version, ...asWritten(found, written), mayAsk }
}

async function simulated(
  ctx: ServiceContext,
  written: Definition,
  given: { data: JsonObject; answers: JsonObject },
  budget: Budget,
): Promise<Explored> {
  const definition = expand(written)
  const outputs = await knownOutputs(ctx, definition)
  return explore(ctx, definition, { outputs, ...given }, budget)
}

/** With step ids as in the written definition. */
function asWritten<S extends Simulation>(found: S, written: Definition): S {
  const idOf = writtenIds(written)
  const named = (ids: string[]) => [...new Set(ids.map(idOf))]
  return {
    ...found,
    unreached: named(found.unreached),
    unreachable: named(found.unreachable),
    unknown: named(found.unknown),
    exits: found.exits.filter(({ stepId }) => stepId === idOf(stepId)),
    failures: found.failures.map((failure) => ({ ...failure, stepId: idOf(failure.stepId) })),
  }
}

/**
 * Warnings from a short simulation of a definition without errors: steps that fail on values that START and forms
 * allow. They block nothing.
 * @param known the check's problems, which are not repeated
 */
export async function hintsOf(ctx: ServiceContext, written: Definition, known: readonly Problem[]): Promise<Problem[]> {
  return advice(ctx, 'simulation at publish', () => findHints(ctx, written, known), [])
}

async function findHints(ctx: ServiceContext, written: Definition, known: readonly Problem[]): Promise<Problem[]> {
  if (known.some(({ severity }) => severity === 'error')) return []
  const reported = new Set(known.map(({ stepId }) => stepId))
  const found = asWritten(await simulated(ctx, written, { data: {}, answers: {} }, HINTS_BUDGET), written)
  return found.failures
    .filter(({ stepId, handled }) => !handled && !reported.has(stepId))
    .slice(0, MAX_HINTS)
    .map((failure) => ({ ...failsHere(failure), severity: 'warning' }))
}

function failsHere({ stepId, message, input }: Simulation['failures'][number]): Problem {
  const start = JSON.stringify(input)
  const given =
    start === '{}' ? '' : ` START was ${start.length > MAX_SHOWN ? `${start.slice(0, MAX_SHOWN)}…` : start}.`
  return flaw('error', `A simulated run fails here: ${message}.${given}`, { stepId })
}

function flaw(severity: Problem['severity'], message: string, place: { stepId?: string } = {}): Problem {
  return { severity, code: 'W_SIMULATION', message, ...place }
}

/**
 * Reasons why a definition without errors does not work in a simulation: steps that fail, steps that no run comes to, and
 * runs that never complete. A loop that may never end is only a warning. For definitions that no person has written.
 */
export async function flawsOf(ctx: ServiceContext, written: Definition): Promise<Problem[]> {
  const found = asWritten(await simulated(ctx, written, { data: {}, answers: {} }, BUDGET), written)
  const missed = found.truncated ? [] : found.unreached
  return [
    ...found.failures.filter(({ handled }) => !handled).map(failsHere),
    ...missed.map((stepId) => flaw('error', `No simulated run comes to ${stepId}.`, { stepId })),
    ...endless(found),
  ].slice(0, MAX_HINTS)
}

/**
 * A simulation leaves each loop after some rounds, regardless of the values. If all values are known and it had to do so
 * on every path, the loop has many rounds, such as one for each month, or it never ends.
 */
function endless({ truncated, completed, unknown }: Explored): Problem[] {
  if (truncated) return []
  if (completed.all === 0) return [flaw('error', 'No simulated run completes.')]
  if (unknown.length > 0 || completed.withoutAssuming > 0) return []
  const message = 'No simulated run leaves its loop by itself. Make sure that a value changes in each round.'
  return [flaw('warning', message)]
}

const MAX_HINTS = 20
const MAX_SHOWN = 200
