import { send, sql } from '@/db/index'
import type { ServiceContext } from '../context'
import { graphOf } from '../definition/graph'
import type { WalkState } from './walk-state'

/**
 * How often a walk has visited each step that lies on a loop, as its records say. Call it before anything new is
 * planned: from then on the walk counts in memory, because nothing else adds to its records.
 */
export async function visitsSoFar(
  ctx: ServiceContext,
  { ref, definition }: WalkState,
): Promise<Record<string, number>> {
  const { looping } = graphOf(definition)
  if (looping.size === 0) return {}
  // One lookup in the primary key for each of them, however long the history is.
  const rows = await send<{ stepId: string; visit: number }>(
    ctx.db,
    sql`
    select l.id as "stepId", r.visit
    from jsonb_array_elements_text(${JSON.stringify([...looping])}::jsonb) l(id)
    cross join lateral (
      select visit from step_records
      where tenant_id = ${ref.tenantId} and run_id = ${ref.runId} and branch = ${ref.branch} and step_id = l.id
      order by visit desc limit 1) r`,
  )
  return Object.fromEntries(rows.map(({ stepId, visit }) => [stepId, visit]))
}
