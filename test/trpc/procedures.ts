import type { AnyProcedure } from '@trpc/server'
import type { Operation } from '@/server/auth/policy'
import { appRouter } from '@/server/trpc/root'

/** A procedure's permission, and a valid input. */
export interface Case {
  /** Its requirement: a row of the policy, only being signed in, or none. */
  needs: Operation | 'signed in' | 'nothing'
  /** A valid input that uses this id wherever it names an object. Absent when it names none. */
  input?: (id: string) => object
  /** The result for an unknown id: 404, unless the id only filters, or is not this tenant's to look up. */
  unknown?: 'not found' | 'nothing found' | 'refused'
}

const run = (id: string) => ({ runId: id })
const inboundOf = (id: string) => ({ workflowId: id, inboundId: id })
const one = (id: string) => ({ id })
const agent = (id: string) => ({ agentId: id })
const LONG_AGO = '2020-01-01T00:00:00.000Z'
const PAGE = { limit: '10', offset: '0' }
const form = { type: 'collect_inputs', data: {} }

/** Every procedure of the dashboard's API. A missing one fails the first test of the role matrix. */
export const CASES: Record<string, Case> = {
  'home.checklist': { needs: 'run:read' },
  'home.pulse': { needs: 'run:read' },
  'home.health': { needs: 'settings:manage' },
  'home.find': { needs: 'workflow:read', input: (id) => ({ q: id }), unknown: 'nothing found' },

  'files.beginUpload': { needs: 'file:upload' },
  'files.store': { needs: 'file:upload' },
  'files.completeUpload': { needs: 'file:upload', input: (id) => ({ fileId: id }) },
  'files.cancelUpload': { needs: 'file:upload', input: (id) => ({ fileId: id }) },
  'files.describe': { needs: 'file:read', input: (id) => ({ ids: [id] }), unknown: 'nothing found' },

  'insights.read': { needs: 'run:read', input: (id) => ({ workflowId: id, days: 7 }) },
  'insights.steps': { needs: 'run:read', input: one },

  'runs.list': { needs: 'run:read', input: (id) => ({ workflow: [id] }), unknown: 'nothing found' },
  'runs.workflows': { needs: 'run:read' },
  'runs.refresh': { needs: 'run:read', input: (id) => ({ runIds: [id] }), unknown: 'nothing found' },
  'runs.countNew': {
    needs: 'run:read',
    input: (id) => ({ since: null, workflow: [id] }),
    unknown: 'nothing found',
  },
  'runs.totals': { needs: 'run:read', input: (id) => ({ workflowIds: [id] }), unknown: 'nothing found' },
  'runs.exportCsv': { needs: 'run:read', input: (id) => ({ workflowIds: [id] }), unknown: 'nothing found' },
  'runs.countBulk': {
    needs: 'run:read',
    input: (id) => ({ verb: 'cancel', filter: { workflowIds: [id] }, at: LONG_AGO }),
    unknown: 'nothing found',
  },
  'runs.causes': { needs: 'run:read', input: (id) => ({ workflowId: id }) },
  'runs.causeRuns': { needs: 'run:read', input: (id) => ({ workflowId: id, key: 'x' }) },
  'runs.bulk': {
    needs: 'run:cancel',
    input: (id) => ({ verb: 'cancel', filter: { workflowIds: [id] }, at: LONG_AGO }),
    unknown: 'nothing found',
  },
  'runs.overview': { needs: 'run:read', input: run },
  'runs.timeline': { needs: 'run:read', input: run },
  'runs.branches': { needs: 'run:read', input: (id) => ({ runId: id, fork: 'main/each#1', page: 0 }) },
  'runs.step': { needs: 'run:read', input: (id) => ({ runId: id, seq: 1 }) },
  'runs.outputs': { needs: 'run:read', input: run },
  'runs.stepValues': { needs: 'run:read', input: (id) => ({ workflowId: id, stepId: 'a', names: ['b'] }) },
  'runs.dataAtStep': { needs: 'run:read', input: (id) => ({ runId: id, stepId: 'a' }) },
  'runs.conversation': { needs: 'run:read', input: (id) => ({ runId: id, seq: 1 }) },
  'runs.calls': { needs: 'run:read', input: (id) => ({ runId: id, seq: 1 }) },
  'runs.oneCall': { needs: 'run:read', input: (id) => ({ of: { runId: id, seq: 1 }, call: '1' }) },
  'runs.wholeValue': { needs: 'run:read', input: (id) => ({ of: 'step', runId: id, seq: 1, field: 'output' }) },
  'runs.statusText': { needs: 'run:read', input: run },
  'runs.definition': { needs: 'run:read', input: run },
  'runs.changes': { needs: 'run:read', input: run },
  'runs.start': { needs: 'run:start', input: (id) => ({ workflowId: id, data: {} }) },
  'runs.resume': { needs: 'run:resume', input: (id) => ({ runId: id, body: form }) },
  'runs.comments': { needs: 'run:read', input: run },
  'runs.comment': { needs: 'task:answer', input: (id) => ({ runId: id, text: 'Hello' }) },
  'runs.deleteComment': { needs: 'task:answer', input: (id) => ({ runId: id, id }) },
  'runs.cancel': { needs: 'run:cancel', input: run },
  'runs.terminate': { needs: 'run:terminate', input: run },
  'runs.movable': { needs: 'run:read', input: (id) => ({ workflowId: id, to: 1 }) },
  'runs.whatIf': { needs: 'workflow:simulate', input: (runId) => ({ runId, body: {} }) },
  'runs.move': { needs: 'run:move', input: (id) => ({ workflowId: id, toVersion: 1, runIds: [id] }) },
  'runs.moveBack': { needs: 'run:move', input: (id) => ({ workflowId: id, batch: 'mov_1' }) },
  'runs.retry': { needs: 'run:retry', input: run },
  'runs.reveal': { needs: 'run:reveal', input: (id) => ({ runId: id, of: 'input', field: 'x' }) },
  'runs.rerun': { needs: 'run:retry', input: (id) => ({ runId: id, body: {} }) },

  'audit.list': { needs: 'audit:read', input: (id) => ({ thing: id }), unknown: 'nothing found' },
  'audit.actors': { needs: 'audit:read' },
  'audit.exportCsv': { needs: 'audit:read', input: (id) => ({ actor: id }), unknown: 'nothing found' },

  'agents.list': { needs: 'agent:read' },
  'agents.get': { needs: 'agent:read', input: one },
  'agents.create': { needs: 'agent:write' },
  'agents.open': { needs: 'agent:read', input: one },
  'agents.users': { needs: 'agent:read', input: one, unknown: 'nothing found' },
  'agents.saveDraft': {
    needs: 'agent:write',
    input: (id) => ({ id, body: { revision: 0, baseVersion: 1, content: { name: 'Taken over' } } }),
  },
  'agents.publish': { needs: 'agent:publish', input: (id) => ({ id, revision: 0 }) },
  'agents.archive': { needs: 'agent:publish', input: one },
  'agents.unarchive': { needs: 'agent:publish', input: one },
  'agents.undoArchive': { needs: 'agent:publish', input: one },
  'agents.duplicate': { needs: 'agent:write', input: one },
  'agents.versions': { needs: 'agent:read', input: (id) => ({ id, page: PAGE }) },
  'agents.version': { needs: 'agent:read', input: (id) => ({ id, version: '1' }) },
  'agents.restore': { needs: 'agent:write', input: (id) => ({ id, version: '1', revision: 0 }) },
  'agents.providers': { needs: 'agent:read' },
  'agents.threads': { needs: 'agent:read', input: agent },
  'agents.turns': { needs: 'agent:read', input: agent },
  'agents.thread': { needs: 'agent:read', input: (id) => ({ agentId: id, threadId: id }) },
  'agents.invoke': { needs: 'agent:invoke', input: (id) => ({ agentId: id, body: { message: 'hello' } }) },
  'agents.beginChat': { needs: 'agent:invoke', input: (id) => ({ agentId: id, message: 'hello' }) },
  'agents.answerOnce': { needs: 'agent:invoke', input: (id) => ({ agentId: id, body: { message: 'hello' } }) },
  'agents.invokeDraft': {
    needs: 'agent:write',
    input: (id) => ({ agentId: id, body: { message: 'hello', draft: {} } }),
  },
  'agents.beginDraftChat': { needs: 'agent:write', input: (id) => ({ agentId: id, message: 'hello', draft: {} }) },
  'agents.cases': { needs: 'agent:read', input: one },
  'agents.keepCase': {
    needs: 'agent:write',
    input: (id) => ({ id, body: { name: 'Theirs', threadId: id, expected: { kind: 'succeeds' } } }),
  },
  'agents.changeExpected': {
    needs: 'agent:write',
    input: (id) => ({ id, caseId: id, expected: { kind: 'succeeds' } }),
  },
  'agents.renameCase': { needs: 'agent:write', input: (id) => ({ id, caseId: id, name: 'Taken over' }) },
  'agents.deleteCase': { needs: 'agent:write', input: (id) => ({ id, caseId: id }) },
  'agents.runCases': { needs: 'agent:write', input: (id) => ({ id, body: { draft: {} } }) },
  'agents.chatEvents': {
    needs: 'agent:invoke',
    input: (id) => ({ agentId: id, lastEventId: 'thr_none.1.1' }),
    unknown: 'refused',
  },

  'tools.list': { needs: 'tool:read' },
  'tools.get': { needs: 'tool:read', input: one },
  'tools.create': { needs: 'tool:write' },
  'tools.open': { needs: 'tool:read', input: one },
  'tools.users': { needs: 'tool:read', input: one, unknown: 'nothing found' },
  'tools.saveDraft': {
    needs: 'tool:write',
    input: (id) => ({ id, body: { revision: 0, baseVersion: 1, content: { name: 'Taken over' } } }),
  },
  'tools.publish': { needs: 'tool:publish', input: (id) => ({ id, revision: 0 }) },
  'tools.archive': { needs: 'tool:publish', input: one },
  'tools.unarchive': { needs: 'tool:publish', input: one },
  'tools.undoArchive': { needs: 'tool:publish', input: one },
  'tools.duplicate': { needs: 'tool:write', input: one },
  'tools.versions': { needs: 'tool:read', input: (id) => ({ id, page: PAGE }) },
  'tools.version': { needs: 'tool:read', input: (id) => ({ id, version: '1' }) },
  'tools.restore': { needs: 'tool:write', input: (id) => ({ id, version: '1', revision: 0 }) },
  'tools.invoke': { needs: 'tool:invoke', input: (id) => ({ toolId: id, body: {} }) },
  'tools.invokeDraft': { needs: 'tool:write', input: (id) => ({ toolId: id, body: { draft: {} } }) },
  'tools.cases': { needs: 'tool:read', input: one },
  'tools.keepCase': {
    needs: 'tool:write',
    input: (id) => ({ id, body: { name: 'Theirs', given: {}, expected: { kind: 'succeeds' } } }),
  },
  'tools.changeExpected': {
    needs: 'tool:write',
    input: (id) => ({ id, caseId: id, expected: { kind: 'succeeds' } }),
  },
  'tools.renameCase': { needs: 'tool:write', input: (id) => ({ id, caseId: id, name: 'Taken over' }) },
  'tools.deleteCase': { needs: 'tool:write', input: (id) => ({ id, caseId: id }) },
  'tools.runCases': { needs: 'tool:write', input: (id) => ({ id, body: { draft: {} } }) },
  'tools.listRemote': { needs: 'tool:write' },

  'live.changes': { needs: 'task:read', input: () => ({ tab: 'tab_of_a_page' }), unknown: 'nothing found' },
  'live.here': { needs: 'workflow:read', input: (id) => ({ id, tab: 'tab_of_a_page', stepId: null }) },

  'tasks.list': { needs: 'task:read', input: (id) => ({ workflowId: id }), unknown: 'nothing found' },
  'tasks.count': { needs: 'task:read', input: (id) => ({ workflowId: id }), unknown: 'nothing found' },
  'tasks.countViews': { needs: 'task:read', input: (id) => ({ workflowId: id }), unknown: 'nothing found' },
  'tasks.get': { needs: 'task:read', input: (id) => ({ runId: id, pauseId: `${id}:main:order#1` }) },

  'tasks.first': { needs: 'task:read', input: run },
  'tasks.refused': { needs: 'task:read' },
  'tasks.answer': { needs: 'task:answer', input: (id) => ({ runId: id, body: form }) },
  'tasks.addFile': {
    needs: 'task:answer',
    input: (id) => ({
      runId: id,
      pauseId: 'main:order#1',
      file: { name: 'a.txt', type: 'text/plain', base64: 'aGk=' },
    }),
  },
  'tasks.dismiss': { needs: 'task:answer', input: (id) => ({ runId: id, pauseId: 'main:order#1' }) },
  'tasks.undo': { needs: 'task:answer', input: (id) => ({ runId: id, pauseId: 'main:order#1' }) },
  'tasks.claim': {
    needs: 'task:answer',
    input: (id) => ({ runId: id, pauseId: 'main:order#1', to: null, from: null }),
  },
  'tasks.takers': { needs: 'task:answer', input: (id) => ({ runId: id, pauseId: 'main:order#1' }) },
  'taskLinks.list': { needs: 'run:read', input: (id) => ({ runId: id, pauseId: 'main:order#1' }) },
  'taskLinks.create': { needs: 'run:resume', input: (id) => ({ runId: id, body: {} }) },
  'taskLinks.revoke': { needs: 'run:resume', input: (id) => ({ runId: id, linkId: id }) },
  'startLinks.list': { needs: 'workflow:read', input: (id) => ({ workflowId: id }) },
  'startLinks.create': { needs: 'run:start', input: (id) => ({ workflowId: id, body: {} }) },
  'startLinks.revoke': { needs: 'run:start', input: (id) => ({ workflowId: id, linkId: id }) },

  'account.get': { needs: 'signed in' },
  'account.changePassword': { needs: 'signed in' },
  'account.endOtherSessions': { needs: 'signed in' },
  'members.leave': { needs: 'signed in' },
  'members.ownMails': { needs: 'signed in' },
  'members.runViews': { needs: 'signed in' },
  'members.saveRunView': { needs: 'signed in' },
  'members.deleteRunView': { needs: 'signed in' },
  'members.setOwnMails': { needs: 'signed in' },

  'auth.setupState': { needs: 'nothing' },
  'auth.previewSlug': { needs: 'nothing' },
  'auth.setup': { needs: 'nothing' },
  'auth.invitation': { needs: 'nothing' },
  'auth.acceptInvitation': { needs: 'nothing' },
  'auth.taskLink': { needs: 'nothing' },
  'auth.answerTaskLink': { needs: 'nothing' },
  'auth.startLink': { needs: 'nothing' },
  'auth.startByLink': { needs: 'nothing' },
  'auth.beginUpload': { needs: 'nothing' },
  'auth.completeUpload': { needs: 'nothing' },
  'auth.cancelUpload': { needs: 'nothing' },

  'keys.list': { needs: 'key:manage' },
  'keys.create': { needs: 'key:manage' },
  'keys.rotate': { needs: 'key:manage', input: one },
  'keys.disable': { needs: 'key:manage', input: one },
  'keys.enable': { needs: 'key:manage', input: one },

  'secrets.list': { needs: 'secret:manage' },
  'secrets.create': { needs: 'secret:manage' },
  'secrets.rotate': { needs: 'secret:manage', input: one },
  'secrets.disable': { needs: 'secret:manage', input: one },
  'secrets.enable': { needs: 'secret:manage', input: one },
  'secrets.limit': {
    needs: 'secret:manage',
    input: (id) => ({ id, limits: { workflowIds: null, agentIds: null, ownRuns: true } }),
  },
  'secrets.debug': { needs: 'secret:manage' },

  'vault.list': { needs: 'secret:manage' },
  'vault.set': { needs: 'secret:manage' },
  'vault.add': { needs: 'secret:manage' },
  'vault.bind': { needs: 'secret:manage', input: (id) => ({ name: id, hosts: ['a.example.com'] }) },
  'vault.delete': { needs: 'secret:manage', input: (id) => ({ name: id }) },

  'schedules.list': { needs: 'workflow:read' },
  'schedules.get': { needs: 'workflow:read', input: (id) => ({ workflowId: id, scheduleId: id }) },
  'schedules.create': {
    needs: 'workflow:publish',
    input: (id) => ({ workflowId: id, body: { name: 'Taken over', cron: '0 9 * * *' } }),
  },
  'schedules.update': {
    needs: 'workflow:publish',
    input: (id) => ({ workflowId: id, scheduleId: id, body: { enabled: false } }),
  },
  'schedules.delete': { needs: 'workflow:publish', input: (id) => ({ workflowId: id, scheduleId: id }) },

  'inbound.list': { needs: 'workflow:read' },
  'inbound.fields': { needs: 'workflow:read', input: (id) => ({ workflowId: id }) },
  'inbound.create': {
    needs: 'workflow:publish',
    input: (id) => ({ workflowId: id, body: { name: 'Taken over', scheme: 'github' } }),
  },
  'inbound.update': { needs: 'workflow:publish', input: (id) => ({ ...inboundOf(id), body: { enabled: false } }) },
  'inbound.delete': { needs: 'workflow:publish', input: inboundOf },
  'inbound.rotate': { needs: 'workflow:publish', input: (id) => ({ ...inboundOf(id), body: {} }) },
  'inbound.try': { needs: 'workflow:publish', input: (id) => ({ ...inboundOf(id), body: {} }) },
  'inbound.deliveries': { needs: 'workflow:publish', input: inboundOf },
  'inbound.delivery': { needs: 'workflow:publish', input: (id) => ({ ...inboundOf(id), deliveryId: id }) },
  'inbound.replay': { needs: 'workflow:publish', input: (id) => ({ ...inboundOf(id), deliveryId: id }) },

  'webhooks.list': { needs: 'webhook:manage' },
  'webhooks.create': { needs: 'webhook:manage' },
  'webhooks.update': { needs: 'webhook:manage', input: (id) => ({ id, body: { enabled: false } }) },
  'webhooks.delete': { needs: 'webhook:manage', input: one },
  'webhooks.rotate': { needs: 'webhook:manage', input: (id) => ({ id, body: {} }) },
  'webhooks.test': { needs: 'webhook:manage', input: one },
  'webhooks.deliveries': { needs: 'webhook:manage', input: one },
  'webhooks.delivery': { needs: 'webhook:manage', input: (id) => ({ id, deliveryId: id }) },
  'webhooks.redeliver': { needs: 'webhook:manage', input: (id) => ({ id, deliveryId: id }) },

  'members.list': { needs: 'member:manage' },
  'members.changeRole': { needs: 'member:manage', input: (id) => ({ userId: id, role: 'viewer' }) },
  'members.remove': { needs: 'member:manage', input: (id) => ({ userId: id }) },
  'members.invitations': { needs: 'member:manage' },
  'members.invite': { needs: 'member:manage' },
  'members.renewInvitation': { needs: 'member:manage', input: one },
  'members.revokeInvitation': { needs: 'member:manage', input: one },

  'groups.list': { needs: 'member:manage' },
  'groups.get': { needs: 'member:manage', input: one },
  'groups.create': { needs: 'member:manage' },
  'groups.update': { needs: 'member:manage', input: (id) => ({ id, body: { name: 'Taken over' } }) },
  'groups.delete': { needs: 'member:manage', input: one },

  'settings.get': { needs: 'settings:manage' },
  'settings.rename': { needs: 'settings:manage' },
  'settings.setCorsOrigins': { needs: 'settings:manage' },
  'settings.agentLimits': { needs: 'settings:manage' },
  'settings.setAgentLimits': { needs: 'settings:manage' },
  'settings.keepRuns': { needs: 'run:delete' },
  'settings.keepAudit': { needs: 'audit:delete' },

  'workflows.list': { needs: 'workflow:read' },
  'workflows.samples': { needs: 'workflow:read' },
  'workflows.startable': { needs: 'run:start', input: (id) => ({ q: id }), unknown: 'nothing found' },
  'workflows.startPage': { needs: 'run:start', input: one },
  'workflows.startFields': { needs: 'workflow:read', input: one },
  'workflows.exportJson': { needs: 'workflow:read', input: one },
  'workflows.create': { needs: 'workflow:write' },
  'workflows.createFromSample': {
    needs: 'workflow:write',
    input: (id) => ({ sampleId: id, name: 'From a sample' }),
    unknown: 'refused',
  },
  'workflows.describe': { needs: 'workflow:write', input: (id) => ({ text: 'Ask Ada.', agentId: id }) },
  'workflows.draftModels': { needs: 'workflow:write' },
  'workflows.addSamples': { needs: 'workflow:write' },
  'workflows.duplicate': { needs: 'workflow:write', input: one },
  'workflows.archive': { needs: 'workflow:publish', input: one },
  'workflows.unarchive': { needs: 'workflow:publish', input: one },
  'workflows.deletePermanently': { needs: 'workflow:delete-permanently', input: one },
  'workflows.undoArchive': { needs: 'workflow:publish', input: one },
  'workflows.get': { needs: 'workflow:read', input: one },
  'workflows.check': { needs: 'workflow:read' },
  'workflows.assignable': { needs: 'workflow:write' },
  'workflows.scope': {
    needs: 'workflow:read',
    input: (id) => ({ workflowId: id, definition: {}, stepId: 'x' }),
  },
  'workflows.save': { needs: 'workflow:write', input: (id) => ({ id, body: { name: 'Taken over', version: 1 } }) },
  'workflows.saveLayout': { needs: 'workflow:write', input: (id) => ({ id, layout: {} }) },
  'workflows.simulate': { needs: 'workflow:simulate', input: (id) => ({ id, body: {} }) },
  'workflows.stepThrough': { needs: 'workflow:simulate', input: (id) => ({ id, body: { version: 1 } }) },
  'workflows.backtestSample': { needs: 'workflow:simulate', input: (id) => ({ id, body: {} }) },
  'workflows.backtestRuns': {
    needs: 'workflow:simulate',
    input: (id) => ({ id, body: { version: 1, runIds: ['run_1'] } }),
  },
  'workflows.backtestRun': {
    needs: 'workflow:simulate',
    input: (id) => ({ id, body: { version: 1, runId: 'run_1' } }),
  },
  'workflows.changes': { needs: 'workflow:read', input: one },
  'workflows.callers': { needs: 'workflow:read', input: one },
  'workflows.publish': { needs: 'workflow:publish', input: one },
  'workflows.cases': { needs: 'workflow:read', input: one },
  'workflows.keepCase': {
    needs: 'workflow:write',
    input: (id) => ({ id, body: { name: 'Theirs', runId: id, expected: { kind: 'succeeds' } } }),
  },
  'workflows.changeExpected': {
    needs: 'workflow:write',
    input: (id) => ({ id, caseId: id, expected: { kind: 'succeeds' } }),
  },
  'workflows.renameCase': { needs: 'workflow:write', input: (id) => ({ id, caseId: id, name: 'Taken over' }) },
  'workflows.deleteCase': { needs: 'workflow:write', input: (id) => ({ id, caseId: id }) },
  'workflows.runCases': { needs: 'workflow:simulate', input: (id) => ({ id, body: {} }) },
  'workflows.versions': { needs: 'workflow:read', input: (id) => ({ id, page: PAGE }) },
  'workflows.openRuns': { needs: 'run:read', input: one },
  'workflows.version': { needs: 'workflow:read', input: (id) => ({ id, version: '1' }) },
  'workflows.restore': { needs: 'workflow:publish', input: (id) => ({ id, version: '1' }) },

  'reference.open': { needs: 'workflow:read' },
  'reference.read': { needs: 'workflow:read', input: one },
  // The operation it calls has the rules of REST.
  'reference.send': { needs: 'workflow:read' },

  'service.read': { needs: 'service:read' },

  'steps.catalog': { needs: 'workflow:read' },
}

export type Kind = 'query' | 'mutation' | 'subscription'

/** Every existing procedure, according to the router. */
export function procedures(): Record<string, Kind> {
  const record = appRouter._def.procedures as unknown as Record<string, AnyProcedure>
  return Object.fromEntries(Object.entries(record).map(([name, procedure]) => [name, procedure._def.type]))
}

export const KINDS = procedures()

/** The case of a procedure. @throws if there is no such case */
export function caseOf(name: string): Case {
  const found = CASES[name]
  if (!found) throw new Error(`Tell in test/trpc/procedures.ts what ${name} needs.`)
  return found
}
