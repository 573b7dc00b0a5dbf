import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { parseInput } from '../parse'
import { list } from '../versioned/list'
import { presentItem } from '../versioned/present'
import { WORKFLOW } from './noun'
import { ListWorkflows } from './schema'

/**
 * The tenant's workflows, most recently changed first, and how many match in all.
 * @throws AppError INVALID_INPUT
 */
export async function listWorkflows(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'workflow:read')
  const { rows, ...page } = await list(ctx, WORKFLOW, parseInput(ListWorkflows, input))
  return { items: rows.map(({ row }) => presentItem(row)), ...page }
}
