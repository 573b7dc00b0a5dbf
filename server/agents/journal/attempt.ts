import type { StepUsage } from '../../definition/agent'
import type { AgentTotals } from '../../definition/schema'

/** How a statement under the fence of an attempt ended. It wrote nothing if it was refused. */
export type Fenced = 'written' | 'stopping' | 'refused'

/** The attempt of a run's step that a turn works in. Only the latest attempt of a visit may begin and record calls. */
export interface TurnAttempt {
  runId: string
  branch: string
  stepId: string
  visit: number
  attempt: number
  /** The key of the visit, the same for all its attempts. */
  key: string
  /** Whether there may be calls of earlier attempts. */
  continues: boolean
  /** The names of the sensitive fields of its run's workflow. */
  hides: ReadonlySet<string>
  /** The usage of the earlier attempts that ended. */
  used: StepUsage | null
  /** What all agents of the run may use together; absent without a limit. */
  most?: AgentTotals | undefined
  /** Whether people can be asked about calls. */
  mayAsk: boolean
  /** Whether the process is stopping, or too little time is left for another call. */
  endsSoon(): boolean
  /** @throws if the attempt was taken over, or its run stopped */
  mayBegin(): Promise<void>
  /** @throws if the statement was refused */
  fenced(statement: () => Promise<Fenced>): Promise<void>
}
