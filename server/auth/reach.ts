import { and, eq, inArray, isNull, or, type SQL, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { signingSecrets } from '@/db/schema/secrets'
import { threads } from '@/db/schema/threads'
import type { Reach, ServiceContext } from '../context'

/** The objects of each kind that a limited secret's tokens may use. No tools: one reads any file of the tenant. */
const IDS = {
  workflow: ({ workflowIds }: Reach) => workflowIds,
  agent: ({ agentIds }: Reach) => agentIds,
  tool: () => [],
} as const satisfies Record<string, (reach: Reach) => readonly string[] | null>

type Word = keyof typeof IDS

/** The reach of a secret's tokens; undefined for a secret without limits. */
export function reachOf(secret: Pick<typeof signingSecrets.$inferSelect, keyof Reach>): Reach | undefined {
  const { workflowIds, agentIds, ownRuns } = secret
  return workflowIds || agentIds || ownRuns ? { workflowIds, agentIds, ownRuns } : undefined
}

/** The runs the caller may use, as a condition besides the tenant's; undefined for all. */
export function runsInReach({ reach, actor }: ServiceContext): SQL | undefined {
  if (!reach) return undefined
  const { workflowIds, ownRuns } = reach
  return and(
    workflowIds ? isOneOf(runs.workflowId, workflowIds) : undefined,
    // One person under every secret: secrets are replaced, and a person's runs stay theirs.
    ownRuns ? and(eq(runs.startedVia, 'jwt'), eq(runs.startedBy, actor.id)) : undefined,
  )
}

/** The runs whose files the caller may read, likewise. */
export function filesInReach(ctx: ServiceContext): SQL | undefined {
  return runsInReach({ ...ctx, reach: ctx.reach ?? ctx.fileReach })
}

/** An API key or a signed-in member acts for the whole tenant; everybody else sees only their own threads. */
export function actsForTenant({ actor }: Pick<ServiceContext, 'actor'>): boolean {
  return actor.kind === 'apiKey' || actor.kind === 'user'
}

/** Whether the caller is a run that an API key or a member has started. A subject may have such an id, too. */
export function isRunOfTenant({ actor }: Pick<ServiceContext, 'actor'>): boolean {
  return actor.kind === 'system' && actor.startedVia !== 'jwt' && /^(key|usr)_/.test(actor.id)
}

/** Narrows a query to the threads the caller may continue; undefined if that is all of them. */
export function ownThreads(ctx: Pick<ServiceContext, 'actor'>): SQL | undefined {
  if (actsForTenant(ctx)) return undefined
  return or(eq(threads.subject, ctx.actor.id), isRunOfTenant(ctx) ? isNull(threads.subject) : undefined)
}

/** The threads whose files the caller may read, likewise. */
export function threadsInReach(ctx: ServiceContext): SQL | undefined {
  const reach = ctx.reach ?? ctx.fileReach
  const own = and(ownThreads(ctx), rowsInReach({ ...ctx, reach }, 'agent', threads.agentId))
  return own && ctx.turnThread !== undefined ? or(own, eq(threads.id, ctx.turnThread)) : own
}

/** The workflows, agents or tools the caller may use, likewise. */
export function rowsInReach({ reach }: ServiceContext, word: Word, id: Parameters<typeof inArray>[0]): SQL | undefined {
  const ids = reach && IDS[word](reach)
  return ids ? isOneOf(id, ids) : undefined
}

export function mayReach({ reach }: ServiceContext, word: Word, id: string): boolean {
  const ids = reach && IDS[word](reach)
  return !ids || ids.includes(id)
}

/**
 * The same caller without limits, for resources that something within reach needs itself: an agent's tools, a
 * workflow's agents. Limits for files stay, because the caller may name one to an agent.
 */
export function beyondReach<C extends ServiceContext>(ctx: C): C {
  return { ...ctx, reach: undefined, fileReach: ctx.reach ?? ctx.fileReach }
}

function isOneOf(column: Parameters<typeof inArray>[0], ids: readonly string[]): SQL {
  return ids.length === 0 ? sql`false` : inArray(column, [...ids])
}
