import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { resolveVersion } from '../versioned/versions'
import { getWorkflowRow, versionIs } from './find'
import { presentVersion, type VersionRow, type WorkflowRow } from './present'

/**
 * One version with all it says. `version` is a number, `latest` or `published`.
 * @throws AppError WORKFLOW_NOT_FOUND, also when the version does not exist or was folded into a later one
 */
export async function getVersion(ctx: ServiceContext, input: { id: string; version: string }) {
  authorize(ctx, 'workflow:read')
  const row = await getWorkflowRow(ctx, input.id)
  return presentVersion(await getVersionRow(ctx, row, input.version), row)
}

/** @throws AppError WORKFLOW_NOT_FOUND */
export async function getVersionRow(ctx: ServiceContext, row: WorkflowRow, wanted: string): Promise<VersionRow> {
  const version = resolveVersion(wanted, row)
  const [found] =
    version === null
      ? []
      : await ctx.db
          .select()
          .from(workflowVersions)
          .where(versionIs(ctx, row.id, version))
  if (found) return found
  const message = 'The workflow has no such version.'
  throw new AppError('WORKFLOW_NOT_FOUND', { details: [{ path: 'version', message }] })
}
