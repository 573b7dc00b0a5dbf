import { and, eq, inArray } from 'drizzle-orm'
import { agents } from '@/db/schema/agents'
import { tools } from '@/db/schema/tools'
import { workflows } from '@/db/schema/workflows'
import { type AuditEntry, listAudit } from '../audit-log/list'
import type { ServiceContext } from '../context'
import type { AuditDetails } from '../definition/audit'
import { tenantMasker } from '../vault/masker'
import { versionNumber } from '../versioned/versions'
import { nameActors } from './actors'
import { numbersOf } from './workflows/numbers'

/** What an id in the details of an entry stands for. */
export interface AuditName {
  id: string
  /** `actor`: a person or an API key, which have no page of their own. */
  kind: 'workflow' | 'agent' | 'tool' | 'actor'
  name: string
}

/** Details that say who did something. */
const ACTORS = ['madeBy', 'answersFor']

/**
 * The audit log as `listAudit` gives it, with the names that its details have only the ids of, as far as they exist, and
 * with the versions of workflows by the numbers that people see.
 */
export async function browseAudit(ctx: ServiceContext, input: unknown) {
  const page = await listAudit(ctx, input)
  const ids = new Set(page.entries.flatMap(({ details }) => Object.values(details).flatMap(textsOf)))
  const actorIds = page.entries.flatMap(({ details }) => ACTORS.flatMap((name) => textsOf(details[name] ?? null)))
  const [masker, entries, nameOf, ...found] = await Promise.all([
    tenantMasker(ctx),
    withNumbers(ctx, page.entries),
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
  return { ...page, entries, names }
}

/** Where the details of a workflow's entries have versions. */
const VERSIONS = ['version', 'replaces', 'from']

/** Drafts have no numbers, so an entry says nothing of a version that was only saved. */
async function withNumbers(ctx: ServiceContext, entries: readonly AuditEntry[]): Promise<AuditEntry[]> {
  const versionsOf = ({ thing, details }: AuditEntry) =>
    (thing.kind === 'workflow' ? VERSIONS : []).flatMap((name) => {
      const value = details[name]
      const version = typeof value === 'number' || typeof value === 'string' ? versionNumber(value) : null
      return version === null ? [] : [{ name, workflowId: thing.id, version }]
    })
  const numberOf = await numbersOf(ctx, entries.flatMap(versionsOf))
  return entries.map((entry) => {
    const details = { ...entry.details }
    for (const { name, workflowId, version } of versionsOf(entry)) {
      const saved = name === 'version' && entry.action !== 'workflow.published'
      const number = saved ? null : numberOf(workflowId, version)
      if (number === null) delete details[name]
      else details[name] = number
    }
    return { ...entry, details }
  })
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
