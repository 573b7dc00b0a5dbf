import { shownBranch } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import type { Definition } from '../../definition/schema'
import { nameOf } from '../../definition/step-name'
import type { StepOutcome, WorkflowCase } from '../../definition/test-case'
import type { Assumption, Misfit, Place, Reason } from '../../definition/verdict'
import { CLEANUP_BRANCH, MAIN_BRANCH } from '../../run-store/names'
import { type Fact, type Facts, failedAs } from './facts'

/** What a test case keeps of a run. */
export function keptOf({ input, edits, visits, arrivals }: Facts): WorkflowCase {
  const steps = new Map<string, StepOutcome[]>()
  for (const fact of visits) {
    const { stepId, branch, visit, type, asked, came } = fact
    const place = { branch: shownBranch(branch), visit, type, ...(asked ? { asked } : {}) }
    const outcome = { ...place, ...(typeof came === 'string' ? { failed: { code: 'STOPPED', message: '' } } : came) }
    steps.set(stepId, [...(steps.get(stepId) ?? []), outcome])
  }
  return {
    data: input,
    steps: Object.fromEntries(steps),
    ...(Object.keys(arrivals).length > 0 ? { arrivals } : {}),
    ...(edits.length > 0 ? { edits } : {}),
  }
}

/**
 * What a test case has kept, as a run recorded it. Older releases kept neither what steps asked nor the order in which
 * branches ended.
 */
export function factsOfKept({ data, steps, arrivals, edits }: WorkflowCase): Facts {
  const visits = Object.entries(steps).flatMap(([stepId, outcomes]) =>
    outcomes.map(({ branch: shown, visit, type = '', asked = null, ...came }): Fact => {
      const branch = [MAIN_BRANCH, CLEANUP_BRANCH].includes(shown) ? shown : `${MAIN_BRANCH}/${shown}`
      return { stepId, branch, visit, type, asked, start: null, came: 'failed' in came ? failedAs(came.failed) : came }
    }),
  )
  return { input: data, edits: edits ?? [], visits, arrivals: arrivals ?? {} }
}

/** More would not be read. */
const MAX_ASSUMED = 10

/** What the outcome of a test case takes for granted. */
export function assumedIn(assumed: readonly Assumption[], definition: Definition): string[] {
  const sentences = assumed.flatMap(({ place, why }) => assumptionOf(why, nameIn(definition, place)) ?? [])
  return [...new Set(sentences)].slice(0, MAX_ASSUMED)
}

function assumptionOf(why: Assumption['why'], name: string): string | null {
  switch (why) {
    case 'other arguments':
      return `Assumes that ${name} gives the same, although its settings or values differ.`
    case 'another version':
      return `Assumes that ${name} gives the same with another version.`
    case 'another visit':
      return `Assumes that ${name} gives what it gave at its last visit.`
    case 'another step':
      return `Assumes that ${name} gives what another step gave that asked the same.`
    case 'succeeds':
      return `Assumes that ${name} succeeds, to which the run that was kept did not come.`
    case 'can be computed':
      return `Assumes that ${name} can be computed.`
    case 'computed now':
    case 'given':
      // A changed script is meant to be computed, and a test case is given no results of calls.
      return null
  }
}

function nameIn(definition: Definition, { stepId }: Place): string {
  const step = graphOf(definition).step(stepId)
  return step ? nameOf(step) : stepId
}

/** Why a test case was not run. */
export function sentenceOf(reason: Reason, definition: Definition): string {
  const name = nameIn(definition, reason.place)
  switch (reason.why) {
    case 'never called':
      return `The run that was kept did not come to ${name}, so its result is unknown.`
    case 'stopped':
    case 'open':
      return `The run that was kept ended before ${name} did, so its result is unknown.`
    case 'hidden':
      return `It depends on a value that ${name} may not show.`
    case 'script':
      return `The script of ${name} changed, and could not be computed in time.`
    case 'answer':
      return misfitOf(name, reason.misfit)
  }
}

function misfitOf(name: string, misfit: Misfit): string {
  if (misfit === 'votes') return `${name} needs more votes than the run that was kept had.`
  if (misfit === 'event') return `The event that was kept does not match what ${name} waits for.`
  if ('form' in misfit) return `The answer that was kept does not fit the form of ${name}: ${misfit.form}.`
  if ('action' in misfit) return `${name} no longer has the action ${misfit.action}, which was chosen.`
  return `The decision that was kept does not fit the fields of ${misfit.of}: ${misfit.fields}.`
}
