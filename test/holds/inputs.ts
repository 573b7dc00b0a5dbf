import type { JsonObject } from '@/server/definition/json'

/** They parse no input and name no object, so that a field nobody knows is all they can be given. */
export const TAKES_NOTHING = [
  ...[
    'account.get',
    'account.endOtherSessions',
    'agents.providers',
    'audit.actors',
    'auth.setupState',
    'home.checklist',
  ],
  ...['home.health', 'home.pulse', 'inbound.list', 'keys.list', 'members.invitations', 'members.leave', 'members.list'],
  ...['members.ownMails', 'members.runViews', 'reference.open', 'runs.workflows', 'schedules.list', 'secrets.list'],
  ...[
    'service.read',
    'settings.get',
    'steps.catalog',
    'tasks.refused',
    'vault.list',
    'webhooks.list',
    'workflows.samples',
  ],
  // Only a number, or only yes and no.
  ...['members.setOwnMails', 'settings.keepAudit', 'settings.keepRuns'],
  ...['GET /api/health', 'GET /api/invitations', 'GET /api/keys', 'GET /api/members', 'GET /api/metrics'],
  ...['GET /api/signing-secrets', 'GET /api/vault', 'GET /api/webhooks'],
]

/** For what no other table has a valid input for. */
export const SEEDS: Record<string, JsonObject> = {
  'auth.invitation': { token: 'no-such-token' },
  'auth.previewSlug': { name: 'Engines' },
  'auth.setup': {
    name: 'Ada',
    email: 'ada@example.com',
    password: 'a long password',
    workspace: 'Engines',
    token: 'none',
  },
  'auth.taskLink': { token: 'no-such-token' },
  'workflows.check': { definition: { name: 'New', steps: [] } },
  'reference.send': { method: 'POST', path: '/api/workflows', body: '{"name":"New"}', headers: {} },
}
