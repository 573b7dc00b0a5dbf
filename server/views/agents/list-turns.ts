import { findTurns } from '../../agents/list-turns'
import { presentTurn } from '../../agents/recorded-turns'
import type { ServiceContext } from '../../context'
import { MAIN_BRANCH } from '../../run-store/names'
import { tenantMasker } from '../../vault/masker'

export interface ListTurns {
  agentId: string
  limit?: string
  /** The `nextCursor` of the previous page. */
  cursor?: string | null
}

/**
 * The list of the REST API, with the names of workflows and steps, and where the run's page shows them.
 * @throws AppError AGENT_NOT_FOUND, INVALID_INPUT
 */
export async function listTurns(ctx: ServiceContext, { agentId, cursor, ...query }: ListTurns) {
  const [{ turns, nextCursor }, masker] = await Promise.all([
    findTurns(ctx, agentId, { ...query, cursor: cursor ?? undefined }),
    tenantMasker(ctx),
  ])
  const items = turns.map((turn) => ({
    ...presentTurn(turn),
    record: turn.record,
    workflowName: masker.text(turn.workflowName),
    stepName: masker.text(turn.stepName),
    stepKey: stepKey(turn),
  }))
  return { items, nextCursor }
}

/** The name of a visit in the address of the run's page. */
function stepKey({ branch, stepId, visit }: { branch: string; stepId: string; visit: number }): string {
  return branch === MAIN_BRANCH && visit === 1 ? stepId : `${branch}:${stepId}#${visit}`
}
