import type { JsonObject } from '@/server/definition/json'

/** They parse no input and name no object, so they can only get an unknown field. */
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
  // Only a number, or only a boolean.
  ...['members.setOwnMails', 'settings.keepAudit', 'settings.keepRuns'],
  ...['GET /api/health', 'GET /api/invitations', 'GET /api/keys', 'GET /api/members', 'GET /api/metrics'],
  ...['GET /api/signing-secrets', 'GET /api/vault', 'GET /api/webhooks'],
]

/** For operations without a valid input in other tables. */
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
