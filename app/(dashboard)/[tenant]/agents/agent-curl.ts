/** How an agent is called: one that answers with data by invoke, any other by chat. */
export function agentCurl(
  agent: { id: string; structured: boolean; supervisor: boolean },
  body: { message: string; threadId?: string; version?: string; dataContext?: object },
): { path: string; body: object; accept?: 'text/event-stream' } {
  if (agent.structured && !agent.supervisor) return { path: `/api/agents/${agent.id}/invoke`, body }
  return { path: '/api/chat', body: { agentId: agent.id, ...body }, accept: 'text/event-stream' }
}
