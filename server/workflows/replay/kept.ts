import { shownBranch } from '../../definition/branches'
import { graphOf } from '../../definition/graph'
import type { Definition } from '../../definition/schema'
import { nameOf } from '../../definition/step-name'
import type { StepOutcome, WorkflowCase } from '../../definition/test-case'
import type { Assumption, Reason } from '../../definition/verdict'
import { assumptionText, needsText } from '../../definition/verdict-text'
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
  const words = wordsIn(definition)
  // A changed script is meant to be computed.
  const shown = assumed.filter(({ why }) => why !== 'computed now')
  return [...new Set(shown.map((one) => assumptionText(one, words)))].slice(0, MAX_ASSUMED)
}

function wordsIn(definition: Definition) {
  return {
    step(stepId: string): string {
      const step = graphOf(definition).step(stepId)
      return step ? nameOf(step) : stepId
    },
  }
}

/** Why a test case was not run. */
export function sentenceOf(reason: Reason, definition: Definition): string {
  return `${needsText(reason, wordsIn(definition))}.`
}
