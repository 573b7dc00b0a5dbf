import type { SecretItem } from '@/server/views/credentials/signing-secrets'

/** The tokens' limits. A null list allows everything. */
export type Limits = Pick<SecretItem, 'workflowIds' | 'agentIds' | 'ownRuns'>

export const NO_LIMITS: Limits = { workflowIds: null, agentIds: null, ownRuns: false }

/** In a few words, such as `2 workflows, no agents, own runs`; null without limits. */
export function limitText({ workflowIds, agentIds, ownRuns }: Limits): string | null {
  const count = (ids: string[] | null, one: string) =>
    ids ? [`${ids.length === 0 ? 'no' : ids.length} ${one}${ids.length === 1 ? '' : 's'}`] : []
  const parts = [...count(workflowIds, 'workflow'), ...count(agentIds, 'agent'), ...(ownRuns ? ['own runs'] : [])]
  return parts.length > 0 ? parts.join(', ') : null
}
