/** The command that calls an agent: invoke for one that answers with data, chat for others. */
export function agentCurl(
  agent: { id: string; structured: boolean; supervisor: boolean },
  body: { message: string; threadId?: string; version?: string; dataContext?: object },
): { path: string; body: object; accept?: 'text/event-stream' } {
  if (agent.structured && !agent.supervisor) return { path: `/api/agents/${agent.id}/invoke`, body }
  return { path: '/api/chat', body: { agentId: agent.id, ...body }, accept: 'text/event-stream' }
}
