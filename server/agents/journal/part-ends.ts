import type { ApprovalQuestion } from '../../definition/approval'
import type { AskedCall } from '../../definition/run'
import type { Fields } from '../../definition/schema'

/** A question about a call of a turn. */
export interface AskedQuestion {
  /** The number of the call. */
  seq: number
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
