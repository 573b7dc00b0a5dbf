import { keepAgentCase } from '@/server/agents/test-cases'
import type { JsonObject } from '@/server/definition/json'
import { MAX_GROUP_NAME } from '@/server/definition/people'
import { createGroup } from '@/server/members/groups/create'
import type { PresentedRun } from '@/server/runs/present'
import { keepToolCase } from '@/server/tools/test-cases'
import { archiveWorkflow, createWorkflow } from '@/server/workflows/lifecycle'
import { type Company, newCompany, type Say } from './company'
import { cancelRun, reached, resumeRun, startRun } from './runs'
import { stocktake } from './stocktake'
import { newPerson, type Workspace } from './workspace'

/** A workspace with an example of everything; including an archived workflow. */
export interface Furnished extends Company {
  /** Runs by their state. */
  completed: string
  failed: string
  /** Its agent has called a tool. */
  triaged: string
  cancelled: string
  /** Waiting for a form. */
  asking: string
  /** Waiting for a decision. */
  deciding: string
  /** A workflow of twenty steps. */
  long: string
  thread: string
  /** An inbound webhook with a delivery. */
  inbound: string
  /** The part of a link to the form after its path. */
  link: string
  /** The part of a link to a public form after its path. */
  form: string
  /** A webhook whose receiver cannot be reached. */
  webhook: string
}

export async function furnish(workspace: Workspace, say: Say = (text) => text): Promise<Furnished> {
  const { ctx } = workspace
  const company = await newCompany(ctx, say)
  const tom = await newPerson(ctx, 'admin', say('Tom Ford'))
  const mary = await newPerson(ctx, 'operator', say('Mary Jackson'))
  // A longer name would be refused.
  const finance = say('Finance').slice(0, MAX_GROUP_NAME)
  await createGroup(ctx, { name: finance, memberIds: [tom.userId, mary.userId] })
  const start = (workflowId: string, data: JsonObject) => startRun(workspace, workflowId, data)
  const order = { article: say('AX-210'), amount: 4 }
  // The offline model calls a tool that its message names.
  const late = say('My parcel has not come yet, please call me today.')
  const [completed, cancelled, asking, deciding, failed, triaged] = await Promise.all([
    start(company.approval, { customer: say('Okafor and Sons') }),
    start(company.approval, { customer: say('Baker Street Books') }),
    start(company.approval, { customer: say('Lindqvist AB') }),
    start(company.approval, { customer: say('Rossi Ceramics') }),
    start(company.refund, { order: say('N-20417'), amount: 89.9, iban: 'DE02120300000000202051' }),
    start(company.triage, { text: `${late} use ${company.stock} {"article": "AX-210"}` }),
  ])
  for (const runId of [completed, deciding]) {
    await reached(workspace, runId, ({ status }) => status === 'paused')
    await resumeRun(workspace, runId, { type: 'collect_inputs', data: order })
    await reached(workspace, runId, ({ status, currentStepId }) => status === 'paused' && currentStepId === 'decision')
  }
  await resumeRun(workspace, completed, { type: 'request_user_action', actionId: 'approve' })
  await reached(workspace, cancelled, ({ status }) => status === 'paused')
  await cancelRun(workspace, cancelled, say('The customer called.'))
  await Promise.all([completed, cancelled, failed, triaged].map((runId) => reached(workspace, runId, ended)))
  await reached(workspace, asking, ({ status }) => status === 'paused')
  const long = (await createWorkflow(ctx, stocktake(company.stock, say))).id
  const thread = await converse(workspace, company.agent, say('Where is my order N-20417?'))
  const left = { kind: 'fields', fields: [{ path: ['left'], value: 12 }] }
  const enough = { name: say('Enough of AX-210'), given: { args: { article: say('AX-210') } }, expected: left }
  await keepToolCase(ctx, { id: company.stock, body: enough })
  const lateOrder = { name: say('An order that is late'), threadId: thread, expected: { kind: 'succeeds' } }
  await keepAgentCase(ctx, { id: company.agent, body: lateOrder })
  const plan = { name: say('Every working day'), cron: '0 9 * * mon-fri', timeZone: 'Europe/Berlin' }
  const schedule = { ...plan, data: { customer: say('Okafor and Sons') } }
  await call(workspace, `workflows/${company.approval}/schedules`, schedule)
  const orders = { name: say('Shop orders'), scheme: 'none', when: '${body.paid}' }
  const inbound = await call(workspace, `workflows/${company.approval}/inbound-webhooks`, orders)
  const returned = {
    ...{ name: say('Returned payments'), scheme: 'hmac', signatureHeader: 'X-Bank-Signature' },
    mapping: { order: '${body.reference}', amount: '${body.amount}' },
  }
  await call(workspace, `workflows/${company.refund}/inbound-webhooks`, returned)
  await call(workspace, String(inbound.path).replace('/api/', ''), { paid: false, customer: say('Okafor and Sons') })
  const told = { description: say('Order service'), events: ['run.paused', 'run.completed', 'run.failed'] }
  const webhook = await call(workspace, 'webhooks', { url: 'http://127.0.0.1:9/hooks', ...told })
  await call(workspace, `webhooks/${webhook.id}/test`, {})
  const shared = await call(workspace, `workflow/task-links/${asking}`, {})
  const link = new URL(String(shared.url)).hash
  const published = await call(workspace, `workflows/${company.approval}/start-links`, { label: say('On the website') })
  const form = new URL(String(published.url)).hash
  const old = await createWorkflow(ctx, { name: say('Orders by fax'), steps: [{ id: 'end', type: 'end-flow' }] })
  await archiveWorkflow(ctx, { id: old.id })
  const ids = { link, form, inbound: String(inbound.id), webhook: String(webhook.id) }
  return { ...company, completed, failed, triaged, cancelled, asking, deciding, long, thread, ...ids }
}

const ended = (run: PresentedRun) => run.endTime !== undefined

async function converse(workspace: Workspace, agentId: string, message: string): Promise<string> {
  const { threadId } = await call(workspace, `agents/${agentId}/invoke`, { message })
  return String(threadId)
}

async function call(workspace: Workspace, path: string, body: object): Promise<Record<string, unknown>> {
  const response = await fetch(`${process.env.BASE_URL}/api/${path}`, {
    method: 'POST',
    headers: { 'x-api-key': workspace.apiKey, 'x-tenant-id': workspace.tenantId, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  const answer = (await response.json()) as Record<string, unknown>
  if (!response.ok) throw new Error(`POST ${path} answered ${JSON.stringify(answer)}`)
  return answer
}
