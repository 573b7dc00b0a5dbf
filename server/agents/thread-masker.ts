import { and, between, eq, isNotNull } from 'drizzle-orm'
import { messages } from '@/db/schema/threads'
import { seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject, type JsonLike } from '../definition/json'
import { hiddenValues, hidingNothing, maskerFor, type RunMasker } from '../vault/hide'
import { MASK, type Masker, maskerOf } from '../vault/mask'
import { tenantMasker } from '../vault/masker'
import { hiddenNames, valuesOfRun } from '../vault/run-values'
import { MAX_MESSAGES } from './messages'

/** For all runs together: searching for more takes too long. */
const MAX_VALUES = 100

/**
 * A masker for messages of a thread as shown to the caller: hides everything that the runs hide whose messages are
 * among these rows or in the history behind them.
 * @param rows in order
 * @param also another run known to have messages here
 */
export async function threadMasker(
  ctx: ServiceContext,
  threadId: string,
  rows: readonly { seq: number }[],
  also?: string,
): Promise<RunMasker> {
  const [first, last] = [rows[0]?.seq, rows.at(-1)?.seq]
  if (first === undefined || last === undefined || !seesHidden(ctx)) return maskerOfRuns(ctx, [])
  const { tenantId, threadId: of, runId, seq } = messages
  const fromRuns = await ctx.db
    .selectDistinct({ runId })
    .from(messages)
    .where(
      and(
        ...[eq(tenantId, ctx.tenantId), eq(of, threadId), isNotNull(runId)],
        between(seq, first - MAX_MESSAGES, last),
      ),
    )
  const ids = fromRuns.flatMap((row) => row.runId ?? [])
  return maskerOfRuns(ctx, also === undefined ? ids : [...new Set([...ids, also])])
}

/**
 * A masker that hides everything that any of these runs hides. If one is deleted, or has too many values, it hides all
 * text.
 */
export async function maskerOfRuns(ctx: ServiceContext, runIds: readonly string[], known?: Masker): Promise<RunMasker> {
  const vault = known ?? (await tenantMasker(ctx))
  if (runIds.length === 0) return hidingNothing(vault)
  const names = await hiddenNames(ctx, runIds)
  if (names.size < runIds.length) return nothingOf(vault)
  const values = new Set<string>()
  // One by one: their data may be large.
  for (const [runId, hides] of names) {
    if (hides.size > 0) for (const value of hiddenValues(await valuesOfRun(ctx, runId), hides)) values.add(value)
    if (values.size > MAX_VALUES) return nothingOf(vault)
  }
  return maskerFor(vault, new Set([...names.values()].flatMap((hides) => [...hides])), maskerOf(values))
}

function nothingOf(vault: Masker): RunMasker {
  const hide = (value: JsonLike): JsonLike => {
    if (Array.isArray(value)) return value.map(hide)
    if (isJsonObject(value)) return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, hide(part)]))
    return typeof value === 'string' || typeof value === 'number' ? MASK : value
  }
  // Hiding changes only texts and numbers, so the shape stays the same.
  return { hides: new Set(), vault, text: () => MASK, json: (value) => hide(value) as typeof value, longest: 0 }
}
