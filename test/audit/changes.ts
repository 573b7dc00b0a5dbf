import type { AuditAction } from '@/server/definition/audit'
import { newId } from '@/server/ids'
import { CASE, CRON, SCRIPT, THREAD_CASE, type World } from './world'

/** A change, the entries it writes, and its call. */
export interface Change {
  writes: AuditAction[]
  input: (of: World) => Promise<object> | object
  /** The actor: an owner, unless it is a new person. Then the role refuses nobody. */
  by?: 'a new member' | 'nobody'
}

const anyEmail = () => `${newId('new')}@example.com`.toLowerCase()
const life = (noun: 'agent' | 'tool', make: (of: World) => object, archived: (of: World) => object) => ({
  saveDraft: change(`${noun}.saved`, async (of) => ({
    ...(await make(of)),
    body: { revision: 0, baseVersion: 1, content: { name: 'Renamed' } },
  })),
  publish: change(`${noun}.published`, async (of) => ({ ...(await make(of)), revision: 0 })),
  archive: change(`${noun}.archived`, make),
  unarchive: change(`${noun}.unarchived`, archived),
  undoArchive: change(`${noun}.unarchived`, archived),
  duplicate: change(`${noun}.cloned`, make),
})

function change(action: AuditAction, input: Change['input']): Change {
  return { writes: [action], input }
}

function under(router: string, changes: Record<string, Change>): Record<string, Change> {
  return Object.fromEntries(Object.entries(changes).map(([name, one]) => [`${router}.${name}`, one]))
}

/** Every procedure of the dashboard's API that changes what the audit log covers. */
export const PROCEDURES: Record<string, Change> = {
  ...under('workflows', {
    create: change('workflow.created', () => ({ name: 'New' })),
    createFromSample: {
      // With the tools and agents it calls, which the first owner has created.
      writes: ['workflow.created'],
      input: () => ({ sampleId: 'wf_hello', name: 'Mine' }),
    },
    duplicate: change('workflow.cloned', (of) => of.workflow()),
    archive: change('workflow.archived', (of) => of.workflow()),
    unarchive: change('workflow.unarchived', (of) => of.archived()),
    undoArchive: change('workflow.unarchived', (of) => of.archived()),
    deletePermanently: change('workflow.deleted', (of) => of.archived()),
    save: change('workflow.saved', async (of) => ({ ...(await of.workflow()), body: { name: 'Renamed' } })),
    publish: change('workflow.published', (of) => of.workflow()),
    restore: change('workflow.restored', (of) => of.saved()),
    // With values that are hidden otherwise; without, it writes nothing.
    backtestRuns: change('workflow.backtested', async (of) => ({
      ...(await of.published()),
      body: { version: 1, runIds: ['run_1'], reveal: true },
    })),
    keepCase: change('testCase.created', (of) => of.ended()),
    renameCase: change('testCase.renamed', async (of) => ({ ...(await of.workflowCase()), name: 'Renamed' })),
    changeExpected: change('testCase.updated', async (of) => ({
      ...(await of.workflowCase()),
      expected: { kind: 'fails' },
    })),
    deleteCase: change('testCase.deleted', (of) => of.workflowCase()),
  }),
  ...under('agents', {
    create: change('agent.created', () => ({ name: 'New', instructions: 'Answer.' })),
    ...life(
      'agent',
      (of) => of.agent(),
      (of) => of.archivedAgent(),
    ),
    restore: change('agent.restored', async (of) => ({ ...(await of.savedAgent()), revision: 0 })),
    keepCase: change('testCase.created', async (of) => {
      const { threadId, ...agent } = await of.thread()
      return { ...agent, body: { ...THREAD_CASE, threadId } }
    }),
    renameCase: change('testCase.renamed', async (of) => ({ ...(await of.agentCase()), name: 'Renamed' })),
    changeExpected: change('testCase.updated', async (of) => ({
      ...(await of.agentCase()),
      expected: { kind: 'contains', text: 'Changed' },
    })),
    deleteCase: change('testCase.deleted', (of) => of.agentCase()),
  }),
  ...under('tools', {
    create: change('tool.created', () => SCRIPT),
    ...life(
      'tool',
      (of) => of.tool(),
      (of) => of.archivedTool(),
    ),
    restore: change('tool.restored', async (of) => ({ ...(await of.savedTool()), revision: 0 })),
    keepCase: change('testCase.created', async (of) => ({ ...(await of.tool()), body: CASE })),
    renameCase: change('testCase.renamed', async (of) => ({ ...(await of.toolCase()), name: 'Renamed' })),
    changeExpected: change('testCase.updated', async (of) => ({
      ...(await of.toolCase()),
      expected: { kind: 'fails' },
    })),
    deleteCase: change('testCase.deleted', (of) => of.toolCase()),
  }),
  ...under('runs', {
    cancel: change('run.cancelled', async (of) => ({ ...(await of.run()), reason: 'No longer needed' })),
    terminate: change('run.terminated', (of) => of.run()),
    retry: change('run.retried', (of) => of.stopped()),
    // With values that are hidden otherwise; without, it writes nothing.
    whatIf: change('run.triedOut', async (of) => ({ runId: (await of.run()).runId, body: { reveal: true } })),
    move: change('run.moved', (of) => of.movable()),
    moveBack: change('run.moved', (of) => of.moved()),
    reveal: change('run.revealed', (of) => of.hiding()),
    rerun: change('run.rerun', async (of) => ({ ...(await of.stopped()), body: {} })),
    bulk: change('run.cancelled', async (of) => {
      const { workflowId } = await of.run()
      const at = new Date(Date.now() + 60_000).toISOString()
      return { verb: 'cancel', filter: { workflowIds: [workflowId] }, at, reason: 'All of them' }
    }),
  }),
  ...under('keys', {
    create: change('apiKey.created', () => ({ name: 'New', role: 'viewer' })),
    rotate: change('apiKey.rotated', (of) => of.key()),
    disable: change('apiKey.disabled', (of) => of.key()),
    enable: change('apiKey.enabled', (of) => of.disabledKey()),
  }),
  ...under('secrets', {
    create: change('signingSecret.created', () => ({ name: 'New' })),
    rotate: change('signingSecret.rotated', (of) => of.secret()),
    disable: change('signingSecret.disabled', (of) => of.secret()),
    enable: change('signingSecret.enabled', (of) => of.disabledSecret()),
    limit: change('signingSecret.limited', async (of) => ({
      ...(await of.secret()),
      limits: { workflowIds: null, agentIds: null, ownRuns: true },
    })),
  }),
  ...under('vault', {
    set: change('vaultSecret.set', () => ({ name: 'NEW_SECRET', value: 'never in the log 2' })),
    add: change('vaultSecret.set', () => ({ name: 'NEWER_SECRET', value: 'never in the log 3' })),
    bind: change('vaultSecret.bound', async (of) => ({ ...(await of.vault()), hosts: ['a.example.com'] })),
    delete: change('vaultSecret.deleted', (of) => of.vault()),
  }),
  ...under('schedules', {
    create: change('schedule.created', async (of) => ({ workflowId: (await of.published()).id, body: CRON })),
    update: change('schedule.updated', async (of) => ({ ...(await of.schedule()), body: { enabled: false } })),
    delete: change('schedule.deleted', (of) => of.schedule()),
  }),
  ...under('inbound', {
    create: change('inboundWebhook.created', async (of) => ({
      workflowId: (await of.published()).id,
      body: { name: 'Shop', scheme: 'stripe', secret: 'never in the log 3' },
    })),
    update: change('inboundWebhook.updated', async (of) => ({ ...(await of.inbound()), body: { enabled: false } })),
    delete: change('inboundWebhook.deleted', (of) => of.inbound()),
    rotate: change('inboundWebhook.rotated', async (of) => ({ ...(await of.inbound()), body: {} })),
  }),
  ...under('webhooks', {
    create: change('webhook.created', () => ({
      url: 'https://example.com/never in the log 4',
      events: ['run.failed'],
    })),
    update: change('webhook.updated', async (of) => ({ ...(await of.webhook()), body: { enabled: false } })),
    delete: change('webhook.deleted', (of) => of.webhook()),
    rotate: change('webhook.rotated', async (of) => ({ ...(await of.webhook()), body: {} })),
  }),
  ...under('members', {
    changeRole: change('member.roleChanged', async (of) => ({ ...(await of.member()), role: 'operator' })),
    remove: change('member.removed', (of) => of.member()),
    leave: { writes: ['member.left'], by: 'a new member', input: () => ({}) },
    invite: change('invitation.created', () => ({ email: anyEmail(), role: 'viewer' })),
    renewInvitation: change('invitation.renewed', (of) => of.invitation()),
    revokeInvitation: change('invitation.revoked', (of) => of.invitation()),
  }),
  ...under('groups', {
    create: change('group.created', () => ({ name: 'New' })),
    update: change('group.updated', async (of) => ({ ...(await of.group()), body: { name: newId('Renamed') } })),
    delete: change('group.deleted', (of) => of.group()),
  }),
  ...under('settings', {
    rename: change('workspace.renamed', () => ({ name: 'Another name' })),
    setCorsOrigins: change('workspace.corsChanged', () => ({ origins: ['https://app.example.com'] })),
    setAgentLimits: change('limits.changed', () => ({ limits: { day: { cost: 5 } } })),
    keepRuns: change('workspace.runsKept', () => ({ days: 30 })),
    keepAudit: change('workspace.auditKept', () => ({ days: 500 })),
  }),
  ...under('taskLinks', {
    create: change('run.linkMade', async (of) => ({ ...(await of.task()), body: {} })),
    revoke: change('run.linkRevoked', (of) => of.taskLink()),
  }),
  ...under('startLinks', {
    create: change('workflow.startLinkMade', async (of) => ({ workflowId: (await of.published()).id, body: {} })),
    revoke: change('workflow.startLinkRevoked', (of) => of.startLink()),
  }),
  'auth.answerTaskLink': {
    writes: ['run.linkUsed'],
    by: 'nobody',
    input: async (of) => ({ token: (await of.taskLink()).token, data: { item: 'Chair' } }),
  },
  'auth.acceptInvitation': {
    writes: ['member.joined'],
    by: 'nobody',
    input: async (of) => ({
      token: (await of.invitation()).token,
      person: { name: 'Eve', password: 'never in the log 5' },
    }),
  },
}

const TEST = 'sends or executes something and changes no setting'
const UPLOAD = 'an upload is nobody’s until a run has it, which says who started or answered it'
const RUN = 'a run says who started it, and who answered it, for as long as it is kept'

/** Procedures that change nothing the audit log covers. */
export const EXEMPT: Record<string, string> = {
  'account.changePassword': 'a person’s account belongs to no workspace',
  'account.endOtherSessions': 'a person’s account belongs to no workspace',
  'agents.answerOnce': TEST,
  'auth.startByLink': RUN,
  'auth.beginUpload': UPLOAD,
  'auth.completeUpload': UPLOAD,
  'auth.cancelUpload': UPLOAD,
  'files.beginUpload': UPLOAD,
  'files.store': UPLOAD,
  'files.completeUpload': UPLOAD,
  'files.cancelUpload': UPLOAD,
  'agents.beginChat': TEST,
  'agents.beginDraftChat': TEST,
  'agents.invoke': TEST,
  'agents.invokeDraft': TEST,
  'agents.runCases': TEST,
  'inbound.replay': 'a delivery says who replayed it',
  'inbound.try': TEST,
  'members.saveRunView': 'it is nobody else’s setting',
  'members.deleteRunView': 'it is nobody else’s setting',
  'members.setOwnMails': 'it is nobody else’s setting',
  'reference.send': 'the call that it makes writes its own entries',
  'runs.comment': 'a comment says who wrote it, and changes nothing else',
  'runs.deleteComment': 'people delete only their own',
  'runs.resume': RUN,
  'runs.start': RUN,
  'secrets.debug': 'reads a token that the caller has',
  'tasks.addFile': RUN,
  'tasks.answer': RUN,
  'tasks.claim': 'who takes care of a task decides nothing',
  'tasks.dismiss': 'only its person is shown it',
  'tasks.undo': 'what was undone never happened',
  'tools.invoke': TEST,
  'tools.invokeDraft': TEST,
  'tools.listRemote': TEST,
  'tools.runCases': TEST,
  'webhooks.redeliver': TEST,
  'webhooks.test': TEST,
  'workflows.backtestSample': TEST,
  'workflows.describe': 'saves nothing',
  'workflows.runCases': TEST,
  'workflows.saveLayout': 'where boxes are drawn is no part of a definition',
  'workflows.simulate': TEST,
  'workflows.stepThrough': TEST,
}

/** The same for REST: the path's parameters come from the input, and so do the `body` and the `query`. */
export const ROUTES: Record<string, Change> = {
  'POST workflows': change('workflow.created', () => ({ body: { name: 'New' } })),
  'PUT workflows/[id]': change('workflow.saved', async (of) => ({
    ...(await of.workflow()),
    body: { name: 'Renamed' },
  })),
  'DELETE workflows/[id]': change('workflow.archived', (of) => of.workflow()),
  'DELETE workflows/[id]/permanent': change('workflow.deleted', (of) => of.archived()),
  'POST workflows/[id]/publish': change('workflow.published', (of) => of.workflow()),
  'POST workflows/[id]/unarchive': change('workflow.unarchived', (of) => of.archived()),
  'POST workflows/[id]/clone': change('workflow.cloned', (of) => of.workflow()),
  'POST workflows/[id]/versions/[version]/restore': change('workflow.restored', (of) => of.saved()),
  'POST workflows/[id]/schedules': change('schedule.created', async (of) => ({
    ...(await of.published()),
    body: CRON,
  })),
  'PUT workflows/[id]/schedules/[scheduleId]': change('schedule.updated', async (of) => ({
    ...(await of.schedule()),
    body: { enabled: false },
  })),
  'DELETE workflows/[id]/schedules/[scheduleId]': change('schedule.deleted', (of) => of.schedule()),
  'POST workflows/[id]/inbound-webhooks': change('inboundWebhook.created', async (of) => ({
    ...(await of.published()),
    body: { name: 'Shop', scheme: 'github' },
  })),
  'PUT workflows/[id]/inbound-webhooks/[inboundId]': change('inboundWebhook.updated', async (of) => ({
    ...(await of.inbound()),
    body: { enabled: false },
  })),
  'DELETE workflows/[id]/inbound-webhooks/[inboundId]': change('inboundWebhook.deleted', (of) => of.inbound()),
  'POST workflows/[id]/inbound-webhooks/[inboundId]/rotate': change('inboundWebhook.rotated', (of) => of.inbound()),
  'POST agents': change('agent.created', () => ({ body: { name: 'New', instructions: 'Answer.' } })),
  'PUT agents/[agentId]': change('agent.saved', async (of) => ({ ...(await of.agent()), body: { name: 'Renamed' } })),
  'DELETE agents/[agentId]': change('agent.archived', (of) => of.agent()),
  'POST agents/[agentId]/publish': change('agent.published', (of) => of.agent()),
  'POST agents/[agentId]/unarchive': change('agent.unarchived', (of) => of.archivedAgent()),
  'POST tools': change('tool.created', () => ({ body: SCRIPT })),
  'PUT tools/[toolId]': change('tool.saved', async (of) => ({ ...(await of.tool()), body: { name: 'Renamed' } })),
  'DELETE tools/[toolId]': change('tool.archived', (of) => of.tool()),
  'POST tools/[toolId]/publish': change('tool.published', (of) => of.tool()),
  'POST tools/[toolId]/unarchive': change('tool.unarchived', (of) => of.archivedTool()),
  'PUT members/[userId]': change('member.roleChanged', async (of) => ({
    ...(await of.member()),
    body: { role: 'operator' },
  })),
  'DELETE members/[userId]': change('member.removed', (of) => of.member()),
  'POST invitations': change('invitation.created', () => ({ body: { email: anyEmail(), role: 'viewer' } })),
  'POST invitations/[invitationId]/renew': change('invitation.renewed', (of) => of.invitation()),
  'DELETE invitations/[invitationId]': change('invitation.revoked', (of) => of.invitation()),
  'POST groups': change('group.created', () => ({ body: { name: 'Newer' } })),
  'PUT groups/[groupId]': change('group.updated', async (of) => ({
    ...(await of.group()),
    body: { memberIds: [(await of.member()).userId] },
  })),
  'DELETE groups/[groupId]': change('group.deleted', (of) => of.group()),
  'POST vault': change('vaultSecret.set', () => ({ body: { name: 'NEWER_SECRET', value: 'never in the log 3' } })),
  'PUT vault/[name]/hosts': change('vaultSecret.bound', async (of) => ({
    ...(await of.vault()),
    body: { hosts: ['a.example.com'] },
  })),
  'DELETE vault/[name]': change('vaultSecret.deleted', (of) => of.vault()),
  'POST keys': change('apiKey.created', () => ({ body: { name: 'New', role: 'viewer' } })),
  'POST keys/[keyId]/rotate': change('apiKey.rotated', (of) => of.key()),
  'POST keys/[keyId]/disable': change('apiKey.disabled', (of) => of.key()),
  'POST keys/[keyId]/enable': change('apiKey.enabled', (of) => of.disabledKey()),
  'POST signing-secrets': change('signingSecret.created', () => ({ body: { name: 'New' } })),
  'PUT signing-secrets/[secretId]/limits': change('signingSecret.limited', async (of) => ({
    ...(await of.secret()),
    body: { workflowIds: null, agentIds: null, ownRuns: true },
  })),
  'POST signing-secrets/[secretId]/rotate': change('signingSecret.rotated', (of) => of.secret()),
  'POST signing-secrets/[secretId]/disable': change('signingSecret.disabled', (of) => of.secret()),
  'POST signing-secrets/[secretId]/enable': change('signingSecret.enabled', (of) => of.disabledSecret()),
  'POST webhooks': change('webhook.created', () => ({
    body: { url: 'https://example.com/hooks', events: ['run.failed'] },
  })),
  'PUT webhooks/[webhookId]': change('webhook.updated', async (of) => ({
    ...(await of.webhook()),
    body: { enabled: false },
  })),
  'DELETE webhooks/[webhookId]': change('webhook.deleted', (of) => of.webhook()),
  'POST webhooks/[webhookId]/rotate': change('webhook.rotated', (of) => of.webhook()),
  'POST workflow/management/cancel': change('run.cancelled', async (of) => ({ body: await of.run() })),
  'POST workflow/management/terminate': change('run.terminated', async (of) => ({ body: await of.run() })),
  'POST workflow/management/move': change('run.moved', async (of) => ({ body: await of.movable() })),
  'POST workflow/retry/[runId]': change('run.retried', (of) => of.stopped()),
  'POST workflow/management/retry': change('run.retried', async (of) => {
    const { id: workflowId, body } = await of.ended()
    return { body: { workflowId, runIds: [body.runId] } }
  }),
  'POST workflow/rerun/[runId]': change('run.rerun', (of) => of.stopped()),
  'POST workflows/[id]/start-links': change('workflow.startLinkMade', (of) => of.published()),
  'DELETE workflows/[id]/start-links/[linkId]': change('workflow.startLinkRevoked', (of) => of.startLink()),
  'POST workflow/task-links/[runId]': change('run.linkMade', (of) => of.task()),
  'DELETE workflow/task-links/[runId]/[linkId]': change('run.linkRevoked', (of) => of.taskLink()),
  // One entry before the deletion, and one with its result.
  'DELETE subjects/data': {
    writes: ['subject.deleted', 'subject.deleted'],
    input: async (of) => ({ query: { sub: await of.subject() } }),
  },
  'POST definitions/apply': {
    // One entry for each change of each object.
    writes: ['tool.created', 'tool.saved', 'tool.published', 'tool.published'],
    input: async (of) => ({
      body: {
        ...{ force: true, publish: true },
        tools: [
          { id: newId('tool'), ...SCRIPT },
          { ...(await of.tool()), ...SCRIPT, name: 'As a file says' },
        ],
      },
    }),
  },
}

/** Routes that change nothing the audit log covers. */
export const EXEMPT_ROUTES: Record<string, string> = {
  'DELETE files/[id]': UPLOAD,
  'POST agents/[agentId]/invoke': TEST,
  'POST agents/[agentId]/threads/[threadId]/approvals': RUN,
  'POST chat': TEST,
  'POST definitions/diff': 'what it changes is rolled back',
  'POST definitions/backtest':
    'what it changes is rolled back; an entry with `reveal` only, as of workflows.backtestRuns',
  'POST events': 'an event says what posted it',
  'POST files': UPLOAD,
  'POST files/[id]/complete': UPLOAD,
  'PUT files/[id]/content': UPLOAD,
  'POST hooks/[hookId]': 'a delivery and its run say what came',
  'POST mcp': 'its tools call verbs, which write their own entries',
  'POST tools/[toolId]/invoke': TEST,
  'POST tools/mcp/list': TEST,
  'POST webhooks/[webhookId]/deliveries/[deliveryId]/redeliver': TEST,
  'POST webhooks/[webhookId]/test': TEST,
  'POST workflow/resume/[runId]': RUN,
  'POST workflow/start-async/[workflowId]': RUN,
  'POST workflow/start/[workflowId]': RUN,
  'POST workflows/[id]/inbound-webhooks/[inboundId]/deliveries/[deliveryId]/replay': 'a delivery says who replayed it',
  'POST workflows/[id]/inbound-webhooks/[inboundId]/test': TEST,
  'POST workflows/[id]/simulate': TEST,
  'POST workflow/what-if/[runId]': 'an entry with `reveal` only, as of runs.whatIf',
  'POST workflows/[id]/backtest': 'an entry with `reveal` only, as of workflows.backtestRuns',
}
