import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { list } from '../versioned/list'
import { presentItem } from '../versioned/present'
import { AGENT } from './noun'
import { ListAgents } from './schema'

/**
 * The tenant's agents, most recently changed first, and how many match in all.
 * @throws AppError INVALID_INPUT
 */
export async function listAgents(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'agent:read')
  const { rows, ...page } = await list(ctx, AGENT, parseInput(ListAgents, input))
  return { items: rows.map(({ row }) => presentItem(row)), ...page }
}
