import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { listVersions } from '../versioned/list-versions'
import type { One } from '../versioned/noun'
import { presentVersionItem } from '../versioned/present'
import { WORKFLOW } from './noun'

/**
 * The workflow's versions, newest first. Numbers may be missing: those saves were folded into the next one.
 * @throws AppError WORKFLOW_NOT_FOUND, INVALID_INPUT
 */
export async function listWorkflowVersions(ctx: ServiceContext, input: One & { page: unknown }) {
  authorize(ctx, 'workflow:read')
  const { row, versions, ...page } = await listVersions(ctx, WORKFLOW, input)
  return { items: versions.map((version) => presentVersionItem(version, row)), ...page }
}
