export const ID = 'inb_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
export const WORKFLOW = 'wf_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const by = 'key_01K5A3QJ8Z0T7V2M9C4D6E8F1G'
const at = '2026-01-05T09:30:00.000Z'

export const delivery = {
  id: 'dlv_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  status: 'started',
  runId: 'run_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  error: null,
  replayOf: null,
  replayedBy: null,
  createdAt: at,
}

export const inbound = {
  id: ID,
  workflowId: WORKFLOW,
  name: 'Issues',
  path: '/api/hooks/q3Jb1yYV0m0n6zRk2v8s5t7w9x1A3C5E7G9I1K3M5O',
  scheme: 'github',
  signatureHeader: null,
  encoding: null,
  idHeader: null,
  secrets: [{ createdAt: at, endsAt: null }],
  mapping: { title: '${body.issue.title}' },
  when: '${body.action} == "opened"',
  enabled: true,
  last: delivery,
  refused: null,
  createdBy: by,
  updatedBy: by,
  createdAt: at,
  updatedAt: at,
}

export const received = { outcome: 'started', runId: delivery.runId, deliveryId: delivery.id }

export const tried = { starts: true, filtered: null, data: { title: 'It drips' }, problems: [] }
