import { AGENT_TURN } from '@/server/definition/agent-turn'
import type { RunOverview } from '@/server/views/runs/overview'

/** Whether the run answers a message to an agent: it can be retried, but only the sender can ask again. */
export function answersMessage({ workflowId }: Pick<RunOverview, 'workflowId'>): boolean {
  return workflowId === AGENT_TURN.workflowId
}

/** Whether no run of the workflow can start any more. */
export function isGone(run: Pick<RunOverview, 'workflowId' | 'workflow'>): boolean {
  return !answersMessage(run) && (run.workflow === null || run.workflow.status === 'archived')
}

/** Whether the failure's card offers a retry. After one, the page links to the new run. */
export function mayRetry({
  state,
  error,
  again,
  retry,
}: Pick<RunOverview, 'state' | 'error' | 'again' | 'retry'>): boolean {
  return (
    error !== null &&
    retry !== null &&
    !retry.same &&
    (state === 'failed' || state === 'timed_out') &&
    again.length === 0
  )
}
