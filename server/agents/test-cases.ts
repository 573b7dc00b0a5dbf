import { and, asc, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { testCases } from '@/db/schema/test-cases'
import { messages, threads } from '@/db/schema/threads'
import { authorize, seesHidden } from '../auth/policy'
import { type ServiceContext, type TransactionContext, withTransaction } from '../context'
import type { AgentCase } from '../definition/test-case'
import { AppError } from '../errors'
import { parseInput } from '../parse'
import type { RunMasker } from '../vault/hide'
import type { One } from '../versioned/noun'
import {
  type CaseMasks,
  CaseName,
  changeExpected,
  deleteCase,
  ExpectedFields,
  keepCase,
  listCases,
  type OneCase,
  onlyVault,
  type PresentedCase,
  renameCase,
} from '../versioned/test-cases'
import { AGENT } from './noun'
import { requireThread } from './thread'
import { maskerOfRuns } from './thread-masker'

/** Each costs an answer whenever the case runs. */
const MAX_MESSAGES = 10

const ExpectedOf = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('succeeds') }),
  z.object({ kind: z.literal('fields'), fields: ExpectedFields }),
  z.object({ kind: z.literal('contains'), text: z.string().trim().min(1).max(1_000) }),
])

const KeepAgentCase = z.object({
  name: CaseName,
  threadId: z.string(),
  expected: ExpectedOf,
})
export type KeepAgentCase = z.input<typeof KeepAgentCase>

/**
 * The agent's test cases, oldest first.
 * @throws AppError AGENT_NOT_FOUND
 */
export async function listAgentCases(ctx: ServiceContext, input: One): Promise<PresentedCase<AgentCase>[]> {
  authorize(ctx, 'agent:read')
  return listCases<AgentCase>(ctx, AGENT, input, await agentMasks(ctx, input.id))
}

/** A case contains a thread's messages, so it hides the same as the thread. */
export async function agentMasks(ctx: ServiceContext, id: string): Promise<CaseMasks> {
  if (!seesHidden(ctx)) return onlyVault
  const said = await ctx.db.execute<{ threadId: string; runIds: string[] }>(sql`
    select c.thread_id as "threadId", array_agg(distinct said.run_id) as "runIds" from ${testCases} c
    cross join lateral (
      select m.run_id from ${messages} m
      where m.tenant_id = c.tenant_id and m.thread_id = c.thread_id and m.role = 'user'
      order by m.seq limit ${MAX_MESSAGES}) said
    where c.tenant_id = ${ctx.tenantId} and c.noun = ${AGENT.word} and c.object_id = ${id} and said.run_id is not null
    group by c.thread_id`)
  const maskers = new Map<string, RunMasker>()
  for (const { threadId, runIds } of said) maskers.set(threadId, await maskerOfRuns(ctx, runIds))
  return (vault, { threadId }) => maskers.get(threadId ?? '') ?? vault
}

/**
 * Saves the messages to the agent in a thread as a test case, which is deleted with the thread.
 * @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, THREAD_NOT_FOUND, INVALID_INPUT, CONFLICT
 */
export async function keepAgentCase(ctx: ServiceContext, input: One & { body: unknown }): Promise<{ id: string }> {
  authorize(ctx, 'agent:write')
  const { name, threadId, expected } = parseInput(KeepAgentCase, input.body)
  return withTransaction(ctx, async (tx) => {
    const id = await requireThread(tx, input.id, threadId)
    const given = { messages: await messagesOf(tx, id) }
    return keepCase(tx, AGENT, input, { name, given, expected, threadId: id })
  })
}

async function messagesOf(tx: TransactionContext, threadId: string): Promise<AgentCase['messages']> {
  // A concurrent deletion of the thread waits, and deletes the test case too.
  const isThread = and(eq(threads.tenantId, tx.tenantId), eq(threads.id, threadId))
  await tx.db.select({ id: threads.id }).from(threads).where(isThread).for('key share')
  const rows = await tx.db
    .select({ content: messages.content })
    .from(messages)
    .where(and(eq(messages.tenantId, tx.tenantId), eq(messages.threadId, threadId), eq(messages.role, 'user')))
    .orderBy(asc(messages.seq))
    .limit(MAX_MESSAGES + 1)
  const found = rows.flatMap(({ content }) =>
    typeof content === 'string' || Array.isArray(content)
      ? []
      : [{ message: content.message, dataContext: content.dataContext }],
  )
  if (found.length > 0 && found.length <= MAX_MESSAGES) return found
  const message = found.length === 0 ? 'has no messages' : `has more than ${MAX_MESSAGES} messages`
  throw new AppError('INVALID_INPUT', { details: [{ path: 'threadId', message }] })
}

/** @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, NOT_FOUND, INVALID_INPUT */
export async function renameAgentCase(ctx: ServiceContext, input: OneCase & { name: unknown }) {
  authorize(ctx, 'agent:write')
  return renameCase(ctx, AGENT, input)
}

/** @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, NOT_FOUND, INVALID_INPUT */
export async function changeAgentExpected(ctx: ServiceContext, input: OneCase & { expected: unknown }) {
  authorize(ctx, 'agent:write')
  const { expected } = parseInput(z.object({ expected: ExpectedOf }), { expected: input.expected })
  return changeExpected(ctx, AGENT, { ...input, expected }, await agentMasks(ctx, input.id))
}

/** @throws AppError AGENT_NOT_FOUND, AGENT_ARCHIVED, NOT_FOUND */
export async function deleteAgentCase(ctx: ServiceContext, input: OneCase) {
  authorize(ctx, 'agent:write')
  return deleteCase(ctx, AGENT, input)
}
