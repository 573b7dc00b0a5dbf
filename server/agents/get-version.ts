import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { getAgentRow, getVersionRow } from './find'
import { presentVersion } from './present'

/** One version with all it says: a number, `latest` or `published`. @throws AppError AGENT_NOT_FOUND */
export async function getAgentVersion(ctx: ServiceContext, input: { agentId: string; version: string }) {
  authorize(ctx, 'agent:read')
  const row = await getAgentRow(ctx, input.agentId)
  return presentVersion(await getVersionRow(ctx, row, input.version), row)
}
