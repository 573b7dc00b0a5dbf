import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { newId } from '../ids'
import { copyName } from '../versioned/copy-name'
import { insertAgent } from './create'
import { getAgentRow, getConfig } from './find'
import type { PresentedAgent } from './present'
import { MAX_NAME } from './schema'

/** A new draft that says what the agent last said; an archived one may be duplicated, too. @throws AppError AGENT_NOT_FOUND */
export async function duplicateAgent(ctx: ServiceContext, id: string): Promise<PresentedAgent> {
  authorize(ctx, 'agent:write')
  return withTransaction(ctx, async (tx) => {
    const config = await getConfig(tx, await getAgentRow(tx, id))
    return insertAgent(tx, newId('agt'), { ...config, name: copyName(config.name, MAX_NAME) })
  })
}
