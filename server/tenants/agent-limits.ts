import { eq } from 'drizzle-orm'
import { z } from 'zod'
import { tenants } from '@/db/schema/tenants'
import { AgentLimits, setLimits } from '../agents/limits-schema'
import { readDay } from '../agents/usage'
import { recordChanges } from '../audit/record'
import { authorize } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import type { AgentLimits as Limits } from '../definition/agent'
import { differences } from '../definition/audit'
import { parseInput } from '../parse'
import { getTenant } from './find'

const SetAgentLimits = z.object({ limits: AgentLimits })

/**
 * What agents of the workspace may use, and what they have used today (UTC).
 * @throws AppError FORBIDDEN
 */
export async function getAgentLimits(ctx: ServiceContext) {
  authorize(ctx, 'settings:manage')
  const [{ agentLimits }, sums] = await Promise.all([getTenant(ctx), readDay(ctx, '')])
  const { tokens = 0, cost = 0 } = sums.find(({ kind }) => kind === 'workspace') ?? {}
  return { limits: agentLimits ?? {}, today: { tokens, cost } }
}

/**
 * Sets what agents of the workspace may use, beside the limits that each has of its own.
 * @throws AppError INVALID_INPUT, FORBIDDEN
 */
export async function setAgentLimits(ctx: ServiceContext, input: unknown): Promise<{ limits: Limits }> {
  authorize(ctx, 'settings:manage')
  const limits = setLimits(parseInput(SetAgentLimits, input).limits) ?? null
  return withTransaction(ctx, async (tx) => {
    const { id, name, agentLimits } = await getTenant(tx, { lock: true })
    await tx.db.update(tenants).set({ agentLimits: limits }).where(eq(tenants.id, id))
    await recordChanges(tx, 'limits.changed', { id, name }, differences(said(agentLimits), said(limits)))
    return { limits: limits ?? {} }
  })
}

/** The limits by their places, such as `day.cost`; null for one that is not set. */
function said(limits: Limits | null): Record<string, number | string | string[] | null> {
  const { call, turn, day, subjectDay, at } = limits ?? {}
  return {
    'call.tokens': call?.tokens ?? null,
    'turn.tokens': turn?.tokens ?? null,
    'turn.cost': turn?.cost ?? null,
    'turn.rounds': turn?.rounds ?? null,
    'turn.calls': turn?.calls ?? null,
    'day.cost': day?.cost ?? null,
    'day.tokens': day?.tokens ?? null,
    'subjectDay.tokens': subjectDay?.tokens ?? null,
    'at.ask': at?.ask ?? null,
    'at.dueIn': at?.dueIn ?? null,
    'at.expiresIn': at?.expiresIn ?? null,
  }
}
