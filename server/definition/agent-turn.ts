import type { Definition } from './schema'

/**
 * The workflow of a turn that invoke or chat began and a run continues, because people are asked or its process died. It
 * is built in: its runs need a version, but there is nothing to list, edit or start.
 */
export const AGENT_TURN = {
  workflowId: 'wf_agent_turn',
  version: 1,
  branch: 'main',
  stepId: 'answer',
  visit: 1,
} as const

/** @param name the agent's, by which people know the run */
export function agentTurnDefinition(name: string): Definition {
  const { stepId } = AGENT_TURN
  return {
    name,
    description: '',
    payload: {},
    initialStep: stepId,
    steps: [
      { id: stepId, type: 'call-agent', name: 'Answer', agentId: '${agentId}', message: 'The message is in the turn.' },
      { id: 'end', type: 'end-flow', name: 'End', output: { answer: `\${${stepId}}` } },
    ],
    edges: [{ from: stepId, to: 'end' }],
  }
}
