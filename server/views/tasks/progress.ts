import { own } from '../../definition/json'
import { votesNeeded } from '../../definition/people'
import type { Masker } from '../../vault/mask'

/** A task decided by votes: its actions, and the votes each needs and has. */
export interface VoteState {
  actions: { id: string; label: string }[]
  needs: Record<string, number>
  cast: Record<string, number>
}

/** The action nearest to its required votes, and the number of all votes cast. */
export interface VoteProgress {
  cast: number
  label: string
  votes: number
  of: number
}

export function progressOf({ actions, needs, cast }: VoteState, masker: Masker): VoteProgress {
  const counts = actions.map(({ id, label }) => ({
    label: masker.text(label),
    votes: own(cast, id) ?? 0,
    of: votesNeeded(needs, id),
  }))
  // An action that one vote decides has no progress to show.
  const several = counts.filter(({ of }) => of > 1)
  const [first = { label: '', votes: 0, of: 1 }] = (several.length > 0 ? several : counts).toSorted(
    (a, b) => b.votes - a.votes,
  )
  return { cast: Object.values(cast).reduce((sum, votes) => sum + votes, 0), ...first }
}
