import { sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { One } from '../../versioned/noun'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { numbersOf } from './numbers'

/** How many of the workspace's open runs to examine. */
const MAX = 20_000

/** The open runs of one version, by current step. */
export interface OpenRuns {
  version: number
  /** As shown to people; null for a draft. */
  number: number | null
  count: number
  /** Most runs first. For a run with branches, the step that forked. */
  steps: { stepId: string; name: string; count: number }[]
}

/**
 * How many runs of each version of a workflow are open, and at which steps, newest version first. Uses the index of
 * runs that are open or did not succeed, however many have ended.
 * @returns `atLeast` if more may exist
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function openRunsByVersion(
  ctx: ServiceContext,
  { id }: One,
): Promise<{ versions: OpenRuns[]; atLeast: boolean }> {
  authorize(ctx, 'run:read')
  await findRow(ctx, WORKFLOW, id)
  const [found] = await ctx.db.execute<{ groups: Group[]; atLeast: boolean }>(sql`
    with open as materialized (
      select r.workflow_id, r.workflow_version, r.current_step_id from ${runs} r
      where r.tenant_id = ${ctx.tenantId} and r.status in ('running', 'paused') and r.outcome is null limit ${MAX + 1})
    select (select count(*) > ${MAX} from open) as "atLeast", coalesce((
      select json_agg(g) from (
        select workflow_version as version, current_step_id as "stepId", count(*)::int as count
        from open where workflow_id = ${id} group by 1, 2) g), '[]'::json) as groups`)
  const groups = found?.groups ?? []
  const of = [...new Set(groups.map(({ version }) => version))].map((version) => ({ workflowId: id, version }))
  const [names, numberOf] = await Promise.all([stepNames(ctx, id, groups), numbersOf(ctx, of)])
  return { versions: byVersion(groups, names, (version) => numberOf(id, version)), atLeast: found?.atLeast ?? false }
}

/** `stepId` is null for a run that has not begun its first step. */
type Group = { version: number; stepId: string | null; count: number }

type Names = (version: number, stepId: string) => string

function byVersion(groups: Group[], nameOf: Names, numberOf: (version: number) => number | null): OpenRuns[] {
  const versions = new Map<number, OpenRuns>()
  for (const { version, stepId, count } of groups.toSorted((a, b) => b.version - a.version || b.count - a.count)) {
    const open = versions.get(version) ?? { version, number: numberOf(version), count: 0, steps: [] }
    open.count += count
    if (stepId !== null) open.steps.push({ stepId, name: nameOf(version, stepId), count })
    versions.set(version, open)
  }
  return [...versions.values()]
}

/**
 * The names in that version: later ones may have renamed or removed a step. Extracted in the database, because many
 * versions may have open runs, and definitions may be large.
 */
async function stepNames(ctx: ServiceContext, id: string, groups: readonly Group[]): Promise<Names> {
  const at = groups.flatMap(({ version, stepId }) => (stepId === null ? [] : [{ version, stepId }]))
  const rows = await ctx.db.execute<{ version: number; stepId: string; name: string }>(sql`
    select v.version, step->>'id' as "stepId", step->>'name' as name
    from ${workflowVersions} v cross join lateral json_array_elements(v.definition->'steps') step
    where v.tenant_id = ${ctx.tenantId} and v.workflow_id = ${id} and step->>'name' <> ''
      and (v.version, step->>'id') in (
        select version, "stepId" from json_to_recordset(${JSON.stringify(at)}::text::json) as t(version int, "stepId" text))`)
  const names = new Map(rows.map(({ version, stepId, name }) => [`${version} ${stepId}`, name]))
  return (of, stepId) => names.get(`${of} ${stepId}`) ?? stepId
}
