import { eq } from 'drizzle-orm'
import { pauses, runs } from '@/db/schema/runs'
import { archiveAgent, createAgent, publishAgent, updateAgent } from '@/server/agents/lifecycle'
import { keepAgentCase } from '@/server/agents/test-cases'
import type { ServiceContext } from '@/server/context'
import { createApiKey } from '@/server/credentials/api-keys/create'
import { disableApiKey } from '@/server/credentials/api-keys/disable'
import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { disableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { newId } from '@/server/ids'
import { createInbound } from '@/server/inbound/save'
import { createTaskLink } from '@/server/links/create'
import { createStartLink } from '@/server/links/start/create'
import { createGroup } from '@/server/members/groups/create'
import { createInvitation } from '@/server/members/invitations/create'
import { moveRuns } from '@/server/runs/moves/move'
import { startRun } from '@/server/runs/start'
import { terminateRun } from '@/server/runs/terminate'
import { createSchedule } from '@/server/schedules/save'
import { archiveTool, createTool, publishTool, updateTool } from '@/server/tools/lifecycle'
import { keepToolCase } from '@/server/tools/test-cases'
import { setVaultSecret } from '@/server/vault/set'
import { createWebhook } from '@/server/webhooks/create'
import { archiveWorkflow, createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { keepWorkflowCase } from '@/server/workflows/test-cases'
import { chat } from '../support/talk'
import { newVisitor } from '../trpc/support'

const STEPS = [{ id: 'order', type: 'collect-inputs', output: { item: { type: 'string' } } }]
export const SCRIPT = { name: 'Tool', kind: 'script', config: { code: 'return 1' } }
export const CASE = { name: 'One', given: {}, expected: { kind: 'equals', value: 'never in the log 8' } }
export const THREAD_CASE = { name: 'One', expected: { kind: 'contains', text: 'never in the log 9' } }
const RUN_CASE = { name: 'One', expected: { kind: 'equals', value: 'never in the log 10' } }
export const CRON = { name: 'Nightly', cron: '0 3 * * *' }

/** Makes a new object of each kind, to be changed. */
export function world(ctx: ServiceContext) {
  const id = async (made: Promise<{ id: string }>) => ({ id: (await made).id })
  const of = {
    workflow: () => id(createWorkflow(ctx, { name: 'Order', steps: STEPS })),
    async published() {
      const made = await of.workflow()
      await publishWorkflow(ctx, made)
      return made
    },
    async saved() {
      const made = await of.workflow()
      await updateWorkflow(ctx, { ...made, body: { name: 'Renamed' } })
      return { ...made, version: '1' }
    },
    async archived() {
      const made = await of.published()
      await archiveWorkflow(ctx, made)
      return made
    },
    agent: () => id(createAgent(ctx, { name: 'Agent', instructions: 'Answer.' })),
    async savedAgent() {
      const made = await of.agent()
      await updateAgent(ctx, { ...made, body: { name: 'Renamed' } })
      return { ...made, version: '1' }
    },
    async archivedAgent() {
      const made = await of.agent()
      await publishAgent(ctx, made)
      await archiveAgent(ctx, made)
      return made
    },
    async thread() {
      const made = await of.agent()
      const { threadId } = await chat(ctx, { agentId: made.id, message: 'Hello' }, new AbortController().signal)
      return { ...made, threadId }
    },
    async agentCase() {
      const { threadId, ...made } = await of.thread()
      return { ...made, caseId: (await keepAgentCase(ctx, { ...made, body: { ...THREAD_CASE, threadId } })).id }
    },
    tool: () => id(createTool(ctx, SCRIPT)),
    async savedTool() {
      const made = await of.tool()
      await updateTool(ctx, { ...made, body: { name: 'Renamed' } })
      return { ...made, version: '1' }
    },
    async archivedTool() {
      const made = await of.tool()
      await publishTool(ctx, made)
      await archiveTool(ctx, made)
      return made
    },
    async toolCase() {
      const made = await of.tool()
      return { ...made, caseId: (await keepToolCase(ctx, { ...made, body: CASE })).id }
    },
    async run() {
      const { id: workflowId } = await of.published()
      return { runId: (await startRun(ctx, { workflowId, body: {} })).runId, workflowId }
    },
    /** A run that waits to begin, and a version that it can be moved to. */
    async movable() {
      const { runId, workflowId } = await of.run()
      await updateWorkflow(ctx, { id: workflowId, body: { name: 'Renamed' } })
      const { version } = await publishWorkflow(ctx, { id: workflowId })
      return { workflowId, toVersion: version, runIds: [runId] }
    },
    async moved() {
      const { workflowId, ...move } = await of.movable()
      const { batch } = await moveRuns(ctx, { workflowId, ...move })
      return { workflowId, batch }
    },
    async hiding() {
      const iban = { type: 'string', sensitive: true }
      const { id: workflowId } = await createWorkflow(ctx, {
        name: 'Hiding',
        payload: { iban },
        steps: [{ id: 'end', type: 'end-flow' }],
        edges: [],
      })
      const { runId } = await startRun(ctx, { workflowId, body: { iban: 'DE02 1203 0000' } })
      return { runId, of: 'input', field: 'iban' }
    },
    /** An open task and a link to it. No engine runs here that would open one. */
    async task() {
      const { runId } = await of.run()
      const { tenantId } = ctx
      const signal = { type: 'collect_inputs' as const, stepId: 'order', fields: { item: { type: 'string' as const } } }
      await ctx.db.insert(pauses).values({
        ...{ tenantId, runId, id: 'main:order#1', branch: 'main', stepId: 'order', visit: 1 },
        ...{ kind: signal.type, signal },
      })
      await ctx.db.update(runs).set({ status: 'paused' }).where(eq(runs.id, runId))
      return { runId }
    },
    async taskLink() {
      const { runId } = await of.task()
      const { id } = await createApiKey(ctx, { name: 'Links', role: 'operator' })
      const maker = { ...ctx, actor: { kind: 'apiKey' as const, id, role: 'operator' as const } }
      const link = await createTaskLink(maker, { runId, body: {}, origin: '' })
      return { runId, linkId: link.id, token: link.url.split('#')[1] }
    },
    async startLink() {
      const { id: workflowId } = await of.published()
      const { id } = await createApiKey(ctx, { name: 'Links', role: 'operator' })
      const maker = { ...ctx, actor: { kind: 'apiKey' as const, id, role: 'operator' as const } }
      const link = await createStartLink(maker, { workflowId, body: {}, origin: '' })
      return { workflowId, linkId: link.id, token: link.url.split('#')[1] }
    },
    async stopped() {
      const { runId } = await of.run()
      await terminateRun(ctx, { runId })
      return { runId }
    },
    /** A run that has ended, to be saved as a test case of its workflow. */
    async ended() {
      const { runId, workflowId } = await of.run()
      await terminateRun(ctx, { runId })
      return { id: workflowId, body: { ...RUN_CASE, runId } }
    },
    async workflowCase() {
      const { id: workflowId, body } = await of.ended()
      return { id: workflowId, caseId: (await keepWorkflowCase(ctx, { id: workflowId, body })).id }
    },
    async subject() {
      const sub = newId('sub')
      const { id: workflowId } = await of.published()
      const actor = { kind: 'jwt' as const, id: sub, secretId: 'sec_1', role: 'operator' as const }
      const { runId } = await startRun({ ...ctx, actor }, { workflowId, body: {} })
      await terminateRun(ctx, { runId })
      return sub
    },
    async schedule() {
      const { id: workflowId } = await of.published()
      const { id: scheduleId } = await createSchedule(ctx, { workflowId, body: CRON })
      return { workflowId, scheduleId }
    },
    async inbound() {
      const { id: workflowId } = await of.published()
      const { id: inboundId } = await createInbound(ctx, { workflowId, body: { name: 'Shop', scheme: 'github' } })
      return { workflowId, inboundId }
    },
    webhook: () => id(createWebhook(ctx, { url: 'https://example.com/hooks/token', events: ['run.failed'] })),
    key: () => id(createApiKey(ctx, { name: 'Key', role: 'viewer' })),
    async disabledKey() {
      const made = await of.key()
      await disableApiKey(ctx, made.id)
      return made
    },
    secret: () => id(createSigningSecret(ctx, { name: 'Secret' })),
    async disabledSecret() {
      const made = await of.secret()
      await disableSigningSecret(ctx, made.id)
      return made
    },
    async vault() {
      const name = newId('S').toUpperCase()
      await setVaultSecret(ctx, { name, value: 'never in the log 1' })
      return { name }
    },
    async member() {
      return { userId: (await newVisitor(ctx, 'editor')).userId }
    },
    group: () => id(createGroup(ctx, { name: newId('Group') })),
    invitation: () => createInvitation(ctx, { email: `${newId('a')}@example.com`.toLowerCase(), role: 'viewer' }),
  }
  return of
}

export type World = ReturnType<typeof world>
