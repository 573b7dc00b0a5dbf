import type { AuditAction, AuditActor, AuditDetails, AuditThing } from '@/server/definition/audit'

export const THINGS: Record<AuditThing, string> = {
  workflow: 'Workflow',
  agent: 'Agent',
  tool: 'Tool',
  testCase: 'Test case',
  schedule: 'Schedule',
  inboundWebhook: 'Inbound webhook',
  webhook: 'Webhook',
  apiKey: 'API key',
  signingSecret: 'Signing secret',
  vaultSecret: 'Secret',
  member: 'Member',
  invitation: 'Invitation',
  workspace: 'Workspace',
  run: 'Run',
  subject: 'Subject',
}

export const ACTORS: Record<AuditActor, string> = {
  user: 'Person',
  apiKey: 'API key',
  token: 'Signed token',
  system: 'System',
}

type Done = AuditAction extends `${string}.${infer D}` ? D : never

/** What was done, after the name of the thing. */
const DONE: Record<Done, string> = {
  created: 'created',
  cloned: 'cloned',
  saved: 'edited',
  restored: 'restored',
  published: 'published',
  archived: 'archived',
  unarchived: 'unarchived',
  deleted: 'deleted',
  updated: 'changed',
  rotated: 'rotated',
  disabled: 'disabled',
  enabled: 'enabled',
  limited: 'limited',
  set: 'set',
  bound: 'bound to hosts',
  added: 'added',
  joined: 'joined',
  roleChanged: 'role changed',
  removed: 'removed',
  left: 'left',
  renewed: 'renewed',
  revoked: 'revoked',
  renamed: 'renamed',
  corsChanged: 'allowed origins changed',
  runsKept: 'retention of runs changed',
  auditKept: 'retention of the audit log changed',
  cancelled: 'cancelled',
  terminated: 'terminated',
  retried: 'retried',
  rerun: 'rerun',
  linkMade: 'task link made',
  linkRevoked: 'task link revoked',
  linkUsed: 'task answered by link',
  revealed: 'sensitive field revealed',
}

export function doneWords(action: AuditAction): string {
  // The type of an action says so.
  return DONE[action.slice(action.indexOf('.') + 1) as Done]
}

export function thingOf(action: AuditAction): AuditThing {
  return action.slice(0, action.indexOf('.')) as AuditThing
}

/** A summary as texts: each with a name, and what it was before if it is known. */
export function detailTexts(details: AuditDetails): { name: string; from: string | null; to: string }[] {
  return Object.entries(details).map(([key, value]) => {
    const name = key.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)
    if (value !== null && typeof value === 'object' && !Array.isArray(value))
      return { name, from: text(value.from), to: text(value.to) }
    return { name, from: null, to: text(value) }
  })
}

function text(value: string | number | boolean | null | string[]): string {
  // Not the same as an empty list: a limit that is not set allows everything.
  if (value === null || value === '') return 'not set'
  if (typeof value === 'boolean') return value ? 'yes' : 'no'
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.join(', ')
  return String(value)
}

/** Where the thing is shown, if it has a page; it may be gone by now. */
export function pageOf(kind: AuditThing, id: string): string | null {
  const pages: Partial<Record<AuditThing, string>> = {
    workflow: `/workflows/${id}`,
    agent: `/agents/${id}`,
    tool: `/tools/${id}`,
    run: `/runs/${id}`,
    webhook: `/settings/webhooks?webhook=${id}`,
    inboundWebhook: `/inbound-webhooks?webhook=${id}`,
    schedule: '/schedules',
    apiKey: '/settings/api-keys',
    signingSecret: '/settings/signing-secrets',
    vaultSecret: '/settings/vault',
    member: '/settings/members',
    invitation: '/settings/members',
    workspace: '/settings/workspace',
  }
  return pages[kind] ?? null
}
