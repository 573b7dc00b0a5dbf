import type { Approval } from '@/server/definition/approval'

/** A tool or an agent that an agent can call. */
export interface Use {
  id: string
  version: string | number
  approval?: Approval | undefined
}

/** Which calls need an approval. */
export type Needs = 'never' | 'always' | 'when'

export function needsOf(approval: Approval | undefined): Needs {
  if (approval === undefined) return 'never'
  return approval === 'always' || approval.when === undefined ? 'always' : 'when'
}
