import { and, eq, inArray } from 'drizzle-orm'
import { agents } from '@/db/schema/agents'
import { tools } from '@/db/schema/tools'
import { workflows } from '@/db/schema/workflows'
import { listAudit } from '../audit-log/list'
import type { ServiceContext } from '../context'
import type { AuditDetails } from '../definition/audit'
import { tenantMasker } from '../vault/masker'
import { nameActors } from './actors'

/** What an id in the details of an entry stands for. */
export interface AuditName {
  id: string
  /** `actor`: a person or an API key, which have no page of their own. */
  kind: 'workflow' | 'agent' | 'tool' | 'actor'
  name: string
}

/** Details that say who did something. */
const ACTORS = ['madeBy', 'answersFor']

/** The audit log as `listAudit` gives it, with the names that its details have only the ids of, as far as they exist. */
export async function browseAudit(ctx: ServiceContext, input: unknown) {
  const page = await listAudit(ctx, input)
  const ids = new Set(page.entries.flatMap(({ details }) => Object.values(details).flatMap(textsOf)))
  const actorIds = page.entries.flatMap(({ details }) => ACTORS.flatMap((name) => textsOf(details[name] ?? null)))
  const [masker, nameOf, ...found] = await Promise.all([
    tenantMasker(ctx),
    nameActors(ctx, actorIds),
    namesIn(ctx, workflows, startingWith('wf_', ids)),
    namesIn(ctx, agents, startingWith('agt_', ids)),
    namesIn(ctx, tools, startingWith('tool_', ids)),
  ])
  const [ofWorkflows, ofAgents, ofTools] = found.map((rows) =>
    rows.map((row) => ({ ...row, name: masker.text(row.name) })),
  )
  const names: AuditName[] = [
    ...(ofWorkflows ?? []).map((row) => ({ ...row, kind: 'workflow' as const })),
    ...(ofAgents ?? []).map((row) => ({ ...row, kind: 'agent' as const })),
    ...(ofTools ?? []).map((row) => ({ ...row, kind: 'tool' as const })),
    ...[...new Set(actorIds)].map((id) => ({ id, kind: 'actor' as const, name: nameOf(id)?.name ?? id })),
  ]
  return { ...page, names }
}

function textsOf(value: AuditDetails[string]): string[] {
  if (typeof value === 'string') return [value]
  if (Array.isArray(value)) return value
  return value !== null && typeof value === 'object' ? [...textsOf(value.from), ...textsOf(value.to)] : []
}

function startingWith(prefix: string, ids: ReadonlySet<string>): string[] {
  return [...ids].filter((id) => id.startsWith(prefix))
}

async function namesIn(
  ctx: ServiceContext,
  table: typeof workflows | typeof agents | typeof tools,
  ids: string[],
): Promise<{ id: string; name: string }[]> {
  if (ids.length === 0) return []
  return await ctx.db
    .select({ id: table.id, name: table.name })
    .from(table)
    .where(and(eq(table.tenantId, ctx.tenantId), inArray(table.id, ids)))
}
