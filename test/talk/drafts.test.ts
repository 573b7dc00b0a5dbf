import { expect, test } from 'vitest'
import { updateAgent } from '@/server/agents/lifecycle'
import type { EventSource } from '@/server/http/sse'
import { retryRun } from '@/server/runs/retry'
import { answerApprovals } from '@/server/talk/approve'
import type { Waiting } from '@/server/talk/await-run'
import { beginDraftChat, openChat } from '@/server/talk/chat'
import { invokeDraftAgent } from '@/server/talk/invoke'
import { Approving, answer } from '../agents/approving'
import { newAgent } from '../agents/support'
import { refusal } from '../workflows/support'

const at = new Approving()
const never = new AbortController().signal
const ORDER = { item: 'chairs', amount: 12 }

/** An agent whose tool asks only in the draft. */
async function edited(fields: object = {}) {
  const { id } = await newAgent(at.runtime.ctx, { tools: [at.refund], ...fields }, at.model)
  const tools = [{ toolId: at.refund, version: 'latest', approval: 'always' }]
  return { agentId: id, draft: { instructions: 'As edited.', tools, ...fields } }
}

async function invoke({ agentId, draft }: Awaited<ReturnType<typeof edited>>): Promise<Waiting> {
  return (await invokeDraftAgent(at.runtime.ctx, { agentId, body: { message: 'x', draft } }, never)) as Waiting
}

const approve = (agentId: string, { threadId, turnId }: Pick<Waiting, 'threadId' | 'turnId'>) =>
  answerApprovals(
    at.runtime.ctx,
    { agentId, threadId, body: { approvals: [{ approvalId: `${turnId}.2`, approved: true }] } },
    never,
  )

/** The instructions in the last request of the model. */
const instructed = () => String(at.model.calls.at(-1)?.body.messages[0].content)

async function events(source: EventSource | null) {
  const all: { id?: string; event: string; data: Record<string, string> }[] = []
  for await (const event of source?.(never) ?? []) all.push(event as never)
  return all
}

test('a draft asks, and continues as it was edited, whatever is saved meanwhile', async () => {
  const drafted = await edited()
  at.model.script({ calls: [at.wish(240)] }, answer)
  const waiting = await invoke(drafted)
  expect(waiting).toMatchObject({ status: 'paused', pauseSignals: [{ call: { toolId: at.refund } }] })
  await updateAgent(at.runtime.ctx, { id: drafted.agentId, body: { instructions: 'Saved.', tools: [] } })
  const answered = await approve(drafted.agentId, waiting)
  expect(answered).toMatchObject({ data: ORDER, metadata: { draft: true, version: 1 } })
  expect([at.paid().length, instructed()]).toEqual([1, expect.stringContaining('As edited.')])
  // Like every run of a draft, it is a test.
  const [run] = await at.database.sql`select started_via from runs where id = ${waiting.runId}`
  expect(run).toEqual({ started_via: 'test' })
})

test('a chat with a draft streams what it asks, and what follows', async () => {
  const drafted = await edited({ outputSchema: null })
  at.model.script({ calls: [at.wish(240)] }, { text: 'It is paid.' })
  const { agentId, draft } = drafted
  const body = { agentId, message: 'x', draft }
  const { lastEventId } = await beginDraftChat(at.runtime.ctx, body as never, never)
  const first = await events(await openChat(at.runtime.ctx, { body: { agentId }, lastEventId }, never))
  expect(first.map(({ event }) => event)).toEqual(['tool.call', 'approval.requested', 'message.waiting'])
  const { approvalId } = first[1]?.data ?? {}
  const threadId = first[2]?.data.threadId
  const approvals = [{ approvalId, approved: true }]
  const rest = await events(
    await openChat(at.runtime.ctx, { body: { agentId, threadId, approvals } as never, lastEventId: null }, never),
  )
  expect(rest.at(-1)).toMatchObject({
    event: 'message.done',
    data: { message: 'It is paid.', metadata: { draft: true } },
  })
  expect(instructed()).toContain('As edited.')
})

test('a draft whose process died is continued by a run, as it was edited', async () => {
  const drafted = await edited({ outputSchema: null })
  at.model.script({ hang: true }, { text: 'It is paid.' })
  const { agentId, draft } = drafted
  const body = { agentId, message: 'x', draft }
  const { lastEventId } = await beginDraftChat(at.runtime.ctx, body as never, never)
  await expect.poll(() => at.model.calls.length).toBe(1)
  const past = new Date(Date.now() - 1_000)
  await at.database.sql`update agent_turns set leased_until = ${past} where leased_until is not null`
  await at.database.sql`update thread_turns set leased_until = ${past}`
  const rest = await events(await openChat(at.runtime.ctx, { body: { agentId }, lastEventId }, never))
  expect(rest.at(-1)).toMatchObject({ event: 'message.done', data: { message: 'It is paid.' } })
  expect(instructed()).toContain('As edited.')
})

test('a retry of its run keeps the draft', async () => {
  const drafted = await edited()
  at.model.script({ calls: [at.wish(240)] }, { status: 400 })
  const waiting = await invoke(drafted)
  expect((await refusal(approve(drafted.agentId, waiting))).code).toBe('MODEL_ERROR')
  at.model.script(answer)
  const { runId } = await retryRun(at.runtime.ctx, { runId: waiting.runId })
  expect(await at.runtime.wait(runId)).toMatchObject({ status: 'completed', result: { answer: ORDER } })
  expect([at.paid().length, instructed()]).toEqual([1, expect.stringContaining('As edited.')])
})
