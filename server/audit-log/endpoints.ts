import { endpoint } from '../openapi/endpoint'
import { example } from '../openapi/example'
import { auditAnswer } from './answer'
import { AuditPage } from './answers'
import { ListAudit } from './schema'

const entry = {
  id: 'aud_01K5A3QJ8Z0T7V2M9C4D6E8F1G',
  at: '2026-01-05T09:30:00.000Z',
  actor: { kind: 'user', id: 'usr_01K5A3QJ8Z0T7V2M9C4D6E8F1G', name: 'Ada Lovelace' },
  action: 'workflow.published',
  thing: { kind: 'workflow', id: 'wf_01K5A3QJ8Z0T7V2M9C4D6E8F1G', name: 'Order' },
  details: { version: 4, replaces: 3 },
  requestId: '5b1f3f0e-3f5c-4a51-9f0a-2f6f0f1c9d77',
  address: '203.0.113.7',
}
const role = {
  ...entry,
  id: 'aud_01K5A3QJ8Z0T7V2M9C4D6E8F1F',
  action: 'member.roleChanged',
  thing: { kind: 'member', id: 'usr_01K5A3QJ8Z0T7V2M9C4D6E8F1H', name: 'eve@example.com' },
  details: { role: { from: 'viewer', to: 'editor' } },
}

export const AUDIT_ENDPOINTS = {
  listAudit: endpoint({
    method: 'GET',
    path: '/api/audit',
    tag: 'Audit log',
    permission: 'audit:read',
    summary: 'List the audit log',
    description:
      'Who changed definitions, credentials, people and settings, or stopped or repeated a run. Newest first. With `format=csv`, or `Accept: text/csv`, the response is a file with up to 5,000 entries, and `Link` leads to the next ones. An entry is written with its change and never changes; it is deleted after 400 days, or after as many as the workspace sets. Saves of a draft by one person share an entry for ten minutes. Starts, answers, events and deliveries have none: their run or delivery says who sent them.',
    query: ListAudit,
    answers: {
      200: {
        description: 'The entries.',
        schema: AuditPage,
        csv: 'id,at,actorKind,actorId,actor,action,thingKind,thingId,thing,details,requestId,address\r\n',
        headers: ['Link'],
        examples: { page: example('Two entries', { entries: [entry, role], nextCursor: null }) },
      },
    },
    errors: [],
    run: ({ ctx, query, request }) => auditAnswer(ctx, query, request),
  }),
}
