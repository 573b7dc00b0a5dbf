import { sql } from 'drizzle-orm'
import { RUN_DATA } from '@/db/run-data'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { isJsonObject } from '../../definition/json'
import { HIDDEN } from '../../definition/sensitive'
import { runIs } from '../../run-store/conditions'
import { hiddenMessages } from '../../runs/hidden-messages'
import type { CutValue } from '../value'
import { MESSAGE_CHARS, type RunItem } from './items'

/** The sensitive top-level fields of a run's value. Each can be revealed, however large the value is. */
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

/** The runs, their failure messages without the values that their workflows hide. */
export async function withoutHiddenMessages(ctx: ServiceContext, items: RunItem[]): Promise<RunItem[]> {
  const failed = items.flatMap(({ failure, ...run }) => (failure ? [{ ...run, code: failure.code }] : []))
  const messages = await hiddenMessages(ctx, failed)
  return items.map((item) => {
    const message = messages.get(item.runId)
    if (!item.failure || message === undefined) return item
    return { ...item, failure: { ...item.failure, message: message.slice(0, MESSAGE_CHARS) } }
  })
}
