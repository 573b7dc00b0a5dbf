/** Ids of nobody's objects, by path parameter. */
export const UNKNOWN: Record<string, string> = {
  workflowId: 'wf_nobody',
  runId: 'run_nobody',
  toolId: 'tool_nobody',
  agentId: 'agt_nobody',
  threadId: 'thr_nobody',
  id: 'wf_nobody',
  version: '1',
  scheduleId: 'sch_nobody',
  inboundId: 'inb_nobody',
  hookId: 'nobody',
  userId: 'usr_nobody',
  invitationId: 'inv_nobody',
  name: 'NOBODY',
  keyId: 'key_nobody',
  webhookId: 'whk_nobody',
  deliveryId: 'msg_nobody',
}
