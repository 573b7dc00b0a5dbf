import { findTurns } from '../../agents/list-turns'
import { presentTurn, type RecordedTurn } from '../../agents/recorded-turns'
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
    workflowName: turn.workflowName === null ? null : masker.text(turn.workflowName),
    stepName: turn.stepName === null ? null : masker.text(turn.stepName),
    stepKey: stepKey(turn),
  }))
  return { items, nextCursor }
}

/** The name of a visit in the address of the run's page; null outside of runs. */
function stepKey({ branch, stepId, visit }: RecordedTurn): string | null {
  return branch === MAIN_BRANCH && visit === 1 ? stepId : stepId && `${branch}:${stepId}#${visit}`
}
