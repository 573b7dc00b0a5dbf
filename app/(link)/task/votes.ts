import type { VoteEnd } from '@/server/links/view'

/** What became of a vote, for the person who cast it. */
export const VOTES: Record<VoteEnd, string> = {
  open: 'Your vote counts. The decision is made once enough people have voted.',
  decided: 'Your vote counted, and the decision has been made. You can close this page.',
  expired: 'The time to vote was over before enough people had voted, so nothing was decided.',
  withdrawn: 'The work that asked for it was stopped before enough people had voted, so nothing was decided.',
}
