import type { LimitAsk, ReachedLimit } from '../../definition/agent'
import type { ApprovalQuestion } from '../../definition/approval'
import type { AskedCall } from '../../definition/run'
import type { Fields } from '../../definition/schema'
import type { ShownValue } from '../../definition/shown'

/** A question of a turn: about a call that its model asks for, or at a limit. */
export type AskedQuestion = CallQuestion | LimitQuestion

export interface LimitQuestion {
  /** Of the model's call that would be next, as of a call. */
  id: string
  limit: ReachedLimit
  title: string
  show: ShownValue[]
  at: LimitAsk
}

export interface CallQuestion {
  /** The number of the call; in an agent that was handed a message, after the numbers of the calls that did so: `4.2`. */
  id: string
  call: Omit<AskedCall, 'why'>
  policy: ApprovalQuestion
  /** The arguments that may be changed, with those of the call as their defaults. */
  fields: Fields
}

/**
 * Ends the work on a turn in the middle. A later part of its visit continues from the recorded calls: soon, or once
 * people have answered.
 */
export class PartEnds extends Error {
  override name = 'PartEnds'

  constructor(readonly questions: AskedQuestion[] | null = null) {
    super('The turn goes on later.')
  }
}
