import { type SQLWrapper, sql } from 'drizzle-orm'
import { RUN_DATA } from '@/db/run-data'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import { HIDDEN } from '../../definition/sensitive'
import { runIs } from '../../run-store/conditions'
import { hiddenMessages } from '../../runs/hidden-messages'
import type { CutValue } from '../value'
import { MESSAGE_CHARS, type RunItem } from './items'

/**
 * The sensitive fields of a run's value: `iban`, and `decision.iban` in an object of it. Each can be revealed, however
 * large the value is.
 */
export async function hiddenFields(
  ctx: ServiceContext,
  runId: string,
  of: 'input' | 'data' | 'result',
  { hides, shown }: { hides: ReadonlySet<string>; shown: CutValue | null },
): Promise<string[]> {
  if (hides.size === 0 || shown === null) return []
  if ('value' in shown) return hiddenIn(shown.value, hides)
  const value = of === 'data' ? RUN_DATA : runs[of]
  const row = ctx.db
    .select({ value: sql`${value}`.as('value') })
    .from(runs)
    .where(runIs(ctx, runId))
    .as('row')
  const partsOf = (part: SQLWrapper) =>
    sql`jsonb_each(case jsonb_typeof(${part}) when 'object' then ${part} else '{}' end)`
  const found = await ctx.db
    .select({ name: sql<string>`field.name` })
    .from(row)
    .innerJoin(
      sql`lateral (
        select top.key as name, top.key, top.value from ${partsOf(row.value)} top
        union all select top.key || '.' || part.key, part.key, part.value
        from ${partsOf(row.value)} top, ${partsOf(sql`top.value`)} part where strpos(top.key, '.') = 0) field`,
      sql`field.key in ${[...hides]} and field.value not in ('null', '""')`,
    )
  return found.map(({ name }) => name)
}

function hiddenIn(value: JsonValue, hides: ReadonlySet<string>): string[] {
  if (!isJsonObject(value)) return []
  const named = (at: JsonObject) => [...hides].filter((name) => own(at, name) === HIDDEN)
  const inside = Object.entries(value).flatMap(([name, part]) =>
    isJsonObject(part) && !name.includes('.') ? named(part).map((field) => `${name}.${field}`) : [],
  )
  return [...named(value), ...inside]
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
