import type { WorkflowName } from '@/server/views/workflows/list-names'

/** Which version of a workflow a schedule or an inbound webhook starts; without a workflow, of any. */
export function startedVersion(workflow: Pick<WorkflowName, 'publishedNumber' | 'archived'> | undefined): string {
  if (!workflow || workflow.archived || workflow.publishedNumber !== null) return 'Its published version is started'
  return 'It was never published: until it is, its draft is started'
}
