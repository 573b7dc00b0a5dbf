import type { workflows, workflowVersions } from '@/db/schema/workflows'
import type { Definition } from '../definition/schema'
import { optionalSettings } from '../definition/settings'
import { presentItem, presentState, presentVersionItem } from '../versioned/present'

export type WorkflowRow = typeof workflows.$inferSelect
export type VersionRow = typeof workflowVersions.$inferSelect

/** The full definition, as every call that returns a workflow shows it. */
export function presentWorkflow(row: WorkflowRow, definition: Definition) {
  return {
    ...presentItem(row),
    ...graphOf(definition),
    ...presentState(row),
  }
}

function graphOf(definition: Definition) {
  const { initialStep, steps, edges, payload } = definition
  return {
    initialStep,
    steps,
    edges,
    payload,
    ...optionalSettings(definition),
  }
}

/** A version with its whole definition. */
export function presentVersion(version: VersionRow, row: WorkflowRow) {
  const definition = version.definition
  const { pins } = version
  return {
    ...presentVersionItem(version, row),
    description: definition.description,
    ...graphOf(definition),
    ...(pins === null || Object.keys(pins).length === 0 ? {} : { pins }),
  }
}

export type PresentedWorkflow = ReturnType<typeof presentWorkflow>
