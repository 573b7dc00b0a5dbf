import { and, asc, eq, gte, lte } from 'drizzle-orm'
import { stepRecords } from '@/db/schema/runs'
import { messages } from '@/db/schema/threads'
import { threadMasker } from '../../agents/thread-masker'
import { turnsOf } from '../../agents/turns'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { getRunRow } from '../../run-store/find-run'
import { noSuchStep } from '../../runs/no-such-step'
import { showTurn, type Turn } from '../agents/read-thread'
import { ReadStep } from './step-detail'

/** A visit has one turn, with as many messages as tool calls. */
const MAX_MESSAGES = 200

/**
 * The messages and tool calls of one visit of an agent step; empty for other steps. Excludes other visits' messages in
 * the same thread.
 * @throws AppError RUN_NOT_FOUND, also when the run has no such visit; INVALID_INPUT
 */
export async function readConversation(ctx: ServiceContext, input: unknown): Promise<{ turns: Turn[] }> {
  authorize(ctx, 'run:read')
  authorize(ctx, 'agent:read')
  const { runId, seq } = parseInput(ReadStep, input)
  const [record] = await ctx.db
    .select({ usage: stepRecords.usage, startTime: stepRecords.startTime, endTime: stepRecords.endTime })
    .from(stepRecords)
    .where(and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), eq(stepRecords.seq, seq)))
  if (!record) {
    await getRunRow(ctx, runId)
    throw noSuchStep()
  }
  const threadId = record.usage?.threadId
  if (threadId === undefined) return { turns: [] }
  const rows = await ctx.db
    .select()
    .from(messages)
    .where(
      and(
        eq(messages.tenantId, ctx.tenantId),
        eq(messages.threadId, threadId),
        gte(messages.createdAt, record.startTime),
        record.endTime ? lte(messages.createdAt, record.endTime) : undefined,
      ),
    )
    .orderBy(asc(messages.seq))
    .limit(MAX_MESSAGES)
  const turns = await turnsOf(ctx, rows, await threadMasker(ctx, threadId, rows, runId))
  return { turns: turns.map(showTurn) }
}
