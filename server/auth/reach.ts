import { and, eq, inArray, type SQL, sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { signingSecrets } from '@/db/schema/secrets'
import type { Reach, ServiceContext } from '../context'

/** What a limited secret's tokens touch of each noun. Tools never: one of them reads any file of the tenant. */
const IDS = {
  workflow: ({ workflowIds }: Reach) => workflowIds,
  agent: ({ agentIds }: Reach) => agentIds,
  tool: () => [],
} as const satisfies Record<string, (reach: Reach) => readonly string[] | null>

type Word = keyof typeof IDS

/** How far the tokens of a secret reach; undefined for one that has no limits. */
export function reachOf(secret: Pick<typeof signingSecrets.$inferSelect, keyof Reach>): Reach | undefined {
  const { workflowIds, agentIds, ownRuns } = secret
  return workflowIds || agentIds || ownRuns ? { workflowIds, agentIds, ownRuns } : undefined
}

/** The runs the caller may touch, as a condition besides the tenant's; undefined for all. */
export function runsInReach({ reach, actor }: ServiceContext): SQL | undefined {
  if (!reach) return undefined
  const { workflowIds, ownRuns } = reach
  return and(
    workflowIds ? isOneOf(runs.workflowId, workflowIds) : undefined,
    // One person under whichever secret: secrets are replaced, and a person's runs stay theirs.
    ownRuns ? and(eq(runs.startedVia, 'jwt'), eq(runs.startedBy, actor.id)) : undefined,
  )
}

/** The runs whose files the caller may read, likewise. */
export function filesInReach(ctx: ServiceContext): SQL | undefined {
  return runsInReach({ ...ctx, reach: ctx.reach ?? ctx.fileReach })
}

/** The workflows, agents or tools the caller may touch, likewise. */
export function rowsInReach({ reach }: ServiceContext, word: Word, id: Parameters<typeof inArray>[0]): SQL | undefined {
  const ids = reach && IDS[word](reach)
  return ids ? isOneOf(id, ids) : undefined
}

export function mayReach({ reach }: ServiceContext, word: Word, id: string): boolean {
  const ids = reach && IDS[word](reach)
  return !ids || ids.includes(id)
}

/**
 * The same caller without limits, for what something within reach needs by itself: an agent's tools, a workflow's agents.
 * Files keep theirs, because the caller may name one to an agent.
 */
export function beyondReach<C extends ServiceContext>(ctx: C): C {
  return { ...ctx, reach: undefined, fileReach: ctx.reach ?? ctx.fileReach }
}

function isOneOf(column: Parameters<typeof inArray>[0], ids: readonly string[]): SQL {
  return ids.length === 0 ? sql`false` : inArray(column, [...ids])
}
