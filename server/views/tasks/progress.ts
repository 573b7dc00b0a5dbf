import { own } from '../../definition/json'
import { votesNeeded } from '../../definition/people'
import type { Masker } from '../../vault/mask'

/** A task that votes decide: its actions, how many votes each needs, and how many it has. */
export interface VoteState {
  actions: { id: string; label: string }[]
  needs: Record<string, number>
  cast: Record<string, number>
}

/** The action that is nearest to being decided by several votes, and how many were cast in all. */
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
  // An action that one vote decides has no progress to tell of.
  const several = counts.filter(({ of }) => of > 1)
  const [first = { label: '', votes: 0, of: 1 }] = (several.length > 0 ? several : counts).toSorted(
    (a, b) => b.votes - a.votes,
  )
  return { cast: Object.values(cast).reduce((sum, votes) => sum + votes, 0), ...first }
}
