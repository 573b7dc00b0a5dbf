import { sql } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { isJsonObject } from '../../definition/json'
import { HIDDEN, sensitiveFields } from '../../definition/sensitive'
import { runIs } from '../../interpreter/find-run'
import { pinnedDefinition } from '../../interpreter/pinned-definition'
import { RUN_DATA } from '../../interpreter/run-data'
import type { CutValue } from '../value'
import type { RunItem } from './items'

/** The sensitive fields at the top of a run's value, each of which can be revealed, however large the value is. */
export async function hiddenFields(
  ctx: ServiceContext,
  runId: string,
  of: 'input' | 'data' | 'result',
  { hides, shown }: { hides: ReadonlySet<string>; shown: CutValue | null },
): Promise<string[]> {
  if (hides.size === 0 || shown === null) return []
  if ('value' in shown) {
    const { value } = shown
    return isJsonObject(value) ? [...hides].filter((name) => value[name] === HIDDEN) : []
  }
  const value = of === 'data' ? RUN_DATA : runs[of]
  const row = ctx.db
    .select({ value: sql`${value}`.as('value') })
    .from(runs)
    .where(runIs(ctx, runId))
    .as('row')
  const found = await ctx.db
    .select({ name: sql<string>`field.key` })
    .from(row)
    .innerJoin(
      sql`jsonb_each(case jsonb_typeof(${row.value}) when 'object' then ${row.value} else '{}' end) field`,
      sql`field.key in ${[...hides]} and field.value not in ('null', '""')`,
    )
  return found.map(({ name }) => name)
}

/**
 * The runs, with the code of a failure in place of a message that may hold what its workflow hides. To mask it, a list would have to read
 * the data of each run; the run's own page does.
 */
export async function withoutHiddenMessages(ctx: ServiceContext, items: RunItem[]): Promise<RunItem[]> {
  const versions = new Map<string, Promise<boolean>>()
  const hides = ({ workflowId, workflowVersion }: RunItem) => {
    const key = `${workflowId}@${workflowVersion}`
    const known =
      versions.get(key) ??
      pinnedDefinition(ctx, workflowId, workflowVersion).then((definition) => sensitiveFields(definition).size > 0)
    versions.set(key, known)
    return known
  }
  return Promise.all(
    items.map(async (item) =>
      item.failure && (await hides(item))
        ? { ...item, failure: { ...item.failure, message: item.failure.code } }
        : item,
    ),
  )
}
