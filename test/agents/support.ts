import { and, asc, eq } from 'drizzle-orm'
import { messages } from '@/db/schema/threads'
import { createAgent } from '@/server/agents/lifecycle'
import type { PresentedAgent } from '@/server/agents/present'
import type { ServiceContext } from '@/server/context'
import type { ModelServer } from '../support/model'

export const ORDER_SCHEMA = {
  type: 'object',
  properties: { item: { type: 'string' }, amount: { type: 'number' } },
  required: ['item', 'amount'],
  additionalProperties: false,
}

/** An agent that answers with orders. With a server, it uses that model server. */
export function newAgent(ctx: ServiceContext, fields: object = {}, model?: ModelServer): Promise<PresentedAgent> {
  return createAgent(ctx, {
    name: 'Orders',
    instructions: 'Extract the order.',
    outputSchema: ORDER_SCHEMA,
    ...(model ? { model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url } } : {}),
    ...fields,
  })
}

/** A thread's messages in order. */
export async function history(ctx: ServiceContext, threadId: string) {
  const rows = await ctx.db
    .select()
    .from(messages)
    .where(and(eq(messages.tenantId, ctx.tenantId), eq(messages.threadId, threadId)))
    .orderBy(asc(messages.seq))
  return rows.map(({ seq, role, content, metadata }) => ({ seq, role, content, metadata }))
}
