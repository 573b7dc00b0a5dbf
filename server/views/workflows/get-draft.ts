import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { diffDefinitions, sizeOfDiff } from '../../definition/diff'
import type { Layout } from '../../definition/layout'
import type { One } from '../../versioned/noun'
import { findWhole } from '../../versioned/row-at'
import { findVersion } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { type PresentedWorkflow, presentWorkflow } from '../../workflows/present'
import { nameActors } from '../actors'

export interface Draft extends PresentedWorkflow {
  layout: Layout
  updatedByName: string
  /** Whether the caller saved it last. */
  updatedByYou: boolean
  /** The published version's number; null if none is published. */
  publishedNumber: number | null
  /** The number of differences from the published version; null if none is published. */
  unpublishedChanges: number | null
}

/**
 * The data the editor opens: the latest saved definition, its layout, and its distance from the published version.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getDraft(ctx: ServiceContext, { id }: One): Promise<Draft> {
  authorize(ctx, 'workflow:read')
  const { row, content: definition } = await findWhole(ctx, WORKFLOW, id)
  const [name, published] = await Promise.all([
    nameActors(ctx, [row.updatedBy]),
    row.publishedVersion === null ? null : findVersion(ctx, WORKFLOW, row, row.publishedVersion),
  ])
  return {
    ...presentWorkflow(row, definition),
    layout: row.layout,
    updatedByName: name(row.updatedBy)?.name ?? row.updatedBy,
    updatedByYou: row.updatedBy === ctx.actor.id,
    publishedNumber: published?.number ?? null,
    unpublishedChanges: published && sizeOfDiff(diffDefinitions(WORKFLOW.contentOf(published), definition)),
  }
}
