import { pillText } from '@/app/_ui/status-pill'
import type { stateOf } from '../../../runs/[runId]/timeline-model'

/** A test run's result for a step: its latest visit. */
export interface Tested {
  state: ReturnType<typeof stateOf>
  /** Its duration; empty while it is running. */
  took: string
  visits: number
  /** Its output in one line; null without one, or if it is too large. */
  output: string | null
}

/** By the step's id. */
export type TestedSteps = ReadonlyMap<string, Tested>

/** "Completed · 320 ms · 2 visits" */
export function testedText(tested: Tested): string {
  return [pillText(tested.state), testedNote(tested)].filter((part) => part !== '').join(' · ')
}

/** "320 ms · 2 visits" */
export function testedNote({ took, visits }: Tested): string {
  return [took, visits > 1 ? `${visits} visits` : ''].filter((part) => part !== '').join(' · ')
}
