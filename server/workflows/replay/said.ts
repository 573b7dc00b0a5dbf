import type { JsonObject } from '../../definition/json'
import type { Place } from '../../definition/verdict'
import type { FactCame } from './facts'
import type { Voter } from './typed'

/** A person's changes of the facts of a run. */
export interface Said {
  /** The fields of START that have another value. */
  input: JsonObject
  /** The fields that have another value before a visit. */
  edits(place: Place): JsonObject | null
  /** The outcome of a visit. */
  came(place: Place): FactCame | null
  voter: Voter
}
