import type { AuditAction, AuditActor, AuditThing } from '@/server/definition/audit'

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
  group: 'Group',
  invitation: 'Invitation',
  workspace: 'Workspace',
  limits: 'Limits',
  run: 'Run',
  subject: 'Subject',
}

export const ACTORS: Record<AuditActor, string> = {
  user: 'Person',
  apiKey: 'API key',
  token: 'Signed token',
  system: 'System',
}

/** Actions on a part of a thing, which the kind's name would only obscure. */
const ALONE = {
  'member.roleChanged': 'Role of a member changed',
  'workspace.corsChanged': 'Allowed origins changed',
  'workspace.runsKept': 'Retention of runs changed',
  'workspace.auditKept': 'Retention of the audit log changed',
  'workflow.startLinkMade': 'Start link made',
  'workflow.startLinkRevoked': 'Start link revoked',
  'workflow.backtested': 'Past runs tried with hidden values',
  'limits.changed': 'Limits of agents changed',
  'run.linkMade': 'Task link made',
  'run.linkRevoked': 'Task link revoked',
  'run.linkUsed': 'Task answered by link',
  'run.revealed': 'Sensitive field revealed',
  'run.triedOut': 'What if tried with hidden values',
} as const satisfies Partial<Record<AuditAction, string>>

type DoneOf<A> = A extends `${string}.${infer D}` ? D : never
type Done = DoneOf<Exclude<AuditAction, keyof typeof ALONE>>

/** The action, shown after the kind of thing. */
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
  removed: 'removed',
  left: 'left',
  renewed: 'renewed',
  revoked: 'revoked',
  renamed: 'renamed',
  cancelled: 'cancelled',
  terminated: 'terminated',
  retried: 'retried',
  rerun: 'run again',
  moved: 'moved to another version',
}

export function actionWords(action: AuditAction): string {
  const alone: Partial<Record<AuditAction, string>> = ALONE
  // The types guarantee that every other action is in `DONE`.
  return alone[action] ?? `${THINGS[thingOf(action)]} ${DONE[action.slice(action.indexOf('.') + 1) as Done]}`
}

export function thingOf(action: AuditAction): AuditThing {
  return action.slice(0, action.indexOf('.')) as AuditThing
}

/** The thing's page, if it has one; the thing may be gone. */
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
    group: '/settings/groups',
    invitation: '/settings/members',
    workspace: '/settings/workspace',
  }
  return pages[kind] ?? null
}

/** Where a request came from. Older entries have the network of the machine's own address. */
export function placeOf(address: string): string {
  const own = address === '::1' || address === '0:0:0:0::/64' || address.startsWith('127.')
  return own ? 'the service’s own machine' : address
}
