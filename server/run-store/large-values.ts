import { sql } from 'drizzle-orm'
import { processWide } from '@/db/process-wide'
import { runs, stepRecords } from '@/db/schema/runs'
import type { ServiceContext } from '../context'
import { fieldsInStoredOrder, type JsonValue } from '../definition/json'
import type { DataRef, DataRefs, RunData } from '../definition/run'
import type { Written } from './run-data'

/** Data as a row stores it. */
export interface StoredData {
  small: RunData
  refs: DataRefs | null
}

type OfRun = { tenantId: string; runId: string }

/** The size limit of this process's cache of large values, in bytes of JSON. */
const MAX_BYTES = 32 * 1024 * 1024

/** Caches the values read last, because a visit's output and a run's input never change: lanes share them. */
export class CachedValues {
  private bytes = 0
  private readonly values = new Map<string, { value: JsonValue; bytes: number }>()

  constructor(private readonly most: number) {}

  get(key: string): { value: JsonValue } | undefined {
    const found = this.values.get(key)
    if (!found) return undefined
    this.values.delete(key)
    this.values.set(key, found)
    return found
  }

  set(key: string, value: JsonValue, bytes: number): void {
    if (bytes > this.most / 2 || this.values.has(key)) return
    this.values.set(key, { value, bytes })
    this.bytes += bytes
    for (const [oldest, { bytes: freed }] of this.values) {
      if (this.bytes <= this.most) return
      this.values.delete(oldest)
      this.bytes -= freed
    }
  }
}

const cache = () => processWide<CachedValues>('runs.large-values', () => new CachedValues(MAX_BYTES))

/** Stored data with its large fields, from memory or from where they are stored. */
export async function putTogether(ctx: ServiceContext, of: OfRun, parts: readonly StoredData[]): Promise<Written[]> {
  const stored = parts.map(({ small, refs }) => ({ small, refs: withoutOverwritten(refs ?? {}, small) }))
  const wanted = new Map<string, { field: string; ref: DataRef }>()
  const values = new Map<string, JsonValue>()
  for (const { refs } of stored)
    for (const [field, ref] of Object.entries(refs)) {
      const key = valueKey(of, field, ref)
      const found = cache().get(key)
      if (found) values.set(key, found.value)
      else wanted.set(key, { field, ref })
    }
  if (wanted.size > 0) {
    for (const { key, value } of await read(ctx, of, wanted)) {
      values.set(key, value)
      cache().set(key, value, wanted.get(key)?.ref.bytes ?? 0)
    }
  }
  return stored.map(({ small, refs }) => {
    if (Object.keys(refs).length === 0) return { data: small, refs }
    const large = Object.entries(refs).map(([field, ref]) => [field, values.get(valueKey(of, field, ref)) ?? null])
    return { data: fieldsInStoredOrder({ ...small, ...Object.fromEntries(large) }), refs }
  })
}

/** A process of an older release does not know references and writes every field in full. */
function withoutOverwritten(refs: DataRefs, small: RunData): DataRefs {
  const overwritten = Object.keys(refs).some((name) => Object.hasOwn(small, name))
  return overwritten ? Object.fromEntries(Object.entries(refs).filter(([name]) => !Object.hasOwn(small, name))) : refs
}

function valueKey({ tenantId, runId }: OfRun, field: string, { branch, stepId, visit }: DataRef): string {
  return JSON.stringify([tenantId, runId, branch, stepId, visit, field])
}

async function read(
  ctx: ServiceContext,
  { tenantId, runId }: OfRun,
  wanted: Map<string, { field: string; ref: DataRef }>,
): Promise<{ key: string; value: JsonValue }[]> {
  const rows = [...wanted].map(([key, { field, ref }]) => ({ key, field, ...ref }))
  const found = await ctx.db.execute<{ key: string; value: JsonValue }>(sql`
    select w.key, case when w."stepId" is null then r.input -> w.field else s.delta -> w.field end as value
    from jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as w(
      key text, field text, branch text, "stepId" text, visit int)
    join ${runs} r on r.tenant_id = ${tenantId} and r.id = ${runId}
    left join ${stepRecords} s on s.tenant_id = ${tenantId} and s.run_id = ${runId} and s.branch = w.branch
      and s.step_id = w."stepId" and s.visit = w.visit`)
  return [...found]
}
