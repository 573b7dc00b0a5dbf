import type { workflows } from '@/db/schema/workflows'
import type { Definition } from './schema'

export type WorkflowRow = typeof workflows.$inferSelect

/** One element of the list. */
export function presentWorkflowItem(row: WorkflowRow) {
  return {
    id: row.id,
    name: row.name,
    description: row.description,
    status: row.status,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
    version: row.version,
    publishedVersion: row.publishedVersion,
  }
}

/** The full definition, as every call that returns one answers. */
export function presentWorkflow(row: WorkflowRow, definition: Definition) {
  return {
    ...presentWorkflowItem(row),
    initialStep: definition.initialStep,
    steps: definition.steps,
    edges: definition.edges,
    payload: definition.payload,
    ...(definition.onCancel === undefined ? {} : { onCancel: definition.onCancel }),
    publishedAt: row.publishedAt?.toISOString() ?? null,
    archivedAt: row.archivedAt?.toISOString() ?? null,
    hasUnpublishedChanges: row.publishedVersion !== row.version,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
  }
}

export type PresentedWorkflow = ReturnType<typeof presentWorkflow>
