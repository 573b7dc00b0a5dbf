import type { workflows, workflowVersions } from '@/db/schema/workflows'
import type { Definition } from './schema'

export type WorkflowRow = typeof workflows.$inferSelect
export type VersionRow = typeof workflowVersions.$inferSelect

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
    ...graphOf(definition),
    publishedAt: row.publishedAt?.toISOString() ?? null,
    archivedAt: row.archivedAt?.toISOString() ?? null,
    hasUnpublishedChanges: row.publishedVersion !== row.version,
    createdBy: row.createdBy,
    updatedBy: row.updatedBy,
  }
}

function graphOf({ initialStep, steps, edges, payload, onCancel }: Definition) {
  return { initialStep, steps, edges, payload, ...(onCancel === undefined ? {} : { onCancel }) }
}

/** One element of the version list. */
export function presentVersionItem(version: Omit<VersionRow, 'definition' | 'tenantId'>, row: WorkflowRow) {
  return {
    id: version.workflowId,
    version: version.version,
    name: version.name,
    createdAt: version.createdAt.toISOString(),
    createdBy: version.createdBy,
    publishedAt: version.publishedAt?.toISOString() ?? null,
    current: version.version === row.version,
    published: version.version === row.publishedVersion,
  }
}

/** A version with all it says. */
export function presentVersion(version: VersionRow, row: WorkflowRow) {
  const definition = version.definition as Definition
  return { ...presentVersionItem(version, row), description: definition.description, ...graphOf(definition) }
}

export type PresentedWorkflow = ReturnType<typeof presentWorkflow>
