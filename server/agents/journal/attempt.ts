import type { StepUsage, TurnAsked } from '../../definition/agent'
import type { AgentTotals } from '../../definition/schema'

/** How a statement under a fence ended. It wrote nothing if it was refused. */
export type Fenced = 'written' | 'stopping' | 'refused'

/** Under what a turn begins and records calls: as long as nobody has taken it over. */
interface Fence {
  /** What the keys of its calls of tools begin with; the same for all that continue the turn. */
  key: string
  /** The names of the sensitive fields of its run's workflow. */
  hides: ReadonlySet<string>
  /** Whether people can be asked about calls. */
  mayAsk: boolean
  /** Whether the process is stopping, or too little time is left for another call. */
  endsSoon(): boolean
  /** @throws if the turn was taken over, or its run stopped */
  mayBegin(): Promise<void>
  /** @throws if the statement was refused */
  fenced(statement: () => Promise<Fenced>): Promise<void>
}

/** The attempt of a run's step that a turn works in. Only the latest attempt of a visit may begin and record calls. */
export interface TurnAttempt extends Fence {
  runId: string
  branch: string
  stepId: string
  visit: number
  attempt: number
  /** Whether there may be calls of earlier attempts. */
  continues: boolean
  /** The usage of the earlier attempts that ended. */
  used: StepUsage | null
  /** What all agents of the run may use together; absent without a limit. */
  most?: AgentTotals | undefined
}

/** The hold of a process on a turn outside of runs. */
export interface TurnHold extends Fence {
  owner: string
  leasedUntil(): Date
  asked: TurnAsked
  subject: string | null
  /** Of a request with an `Idempotency-Key`. */
  requestKey: string | null
  ticket: number | null
  /** Whether the turn is recorded. */
  isRecorded: boolean
}

export type TurnFence = TurnAttempt | TurnHold

export function isInRun(fence: TurnFence): fence is TurnAttempt {
  return 'runId' in fence
}
