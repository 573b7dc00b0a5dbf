import { and, eq, type SQL } from 'drizzle-orm'
import { z } from 'zod'
import { RUN_DATA } from '@/db/run-data'
import { runs, stepRecords } from '@/db/schema/runs'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonValue } from '../definition/json'
import { AppError } from '../errors'
import { isId } from '../ids'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { runIs } from '../run-store/conditions'
import { requireRun } from '../run-store/find-run'
import { findCall, ReadCall } from './find-call'
import { noSuchStep } from './no-such-step'
import { callerMaskerOf } from './run-masker'
import { isLarge } from './stored-run'

/** Identifies a value of a run, of one of its visits, or of a call of an agent. */
export const ReadWholeValue = z.discriminatedUnion('of', [
  z.object({ of: z.literal('run'), runId: z.string(), field: z.enum(['input', 'data', 'result']) }),
  z.object({
    of: z.literal('step'),
    runId: z.string(),
    seq: z.number().int().min(0),
    field: z.enum(['input', 'output']),
  }),
  /** What a model said; the arguments and the result of a tool; the arguments that people changed. */
  z.object({ of: z.literal('call'), at: ReadCall, field: z.enum(['text', 'args', 'result', 'changed']) }),
])
export type ReadWholeValue = z.input<typeof ReadWholeValue>

/** The same as a query string. */
export const ReadValue = z.object({
  field: z.enum(['input', 'data', 'result', 'output']).describe('The value to get.'),
  record: z
    .string()
    .regex(/^\d{1,15}$/, 'must be the number of a record')
    .transform(Number)
    .optional()
    .describe('The record that holds the value; without it, a value of the run.'),
})

/**
 * The full value behind one that a response has cut.
 * @throws AppError RUN_NOT_FOUND, TURN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE
 */
export async function readWholeValue(ctx: ServiceContext, input: unknown): Promise<{ value: JsonValue }> {
  authorize(ctx, 'run:read')
  const wanted = parseInput(ReadWholeValue, input)
  if (wanted.of === 'call') return { value: await ofCall(ctx, wanted) }
  const { runId } = wanted
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const read = (reading: ServiceContext) => (wanted.of === 'run' ? ofRun(reading, wanted) : ofStep(reading, wanted))
  const value = (await isLarge(ctx, runId)) ? await largeRead(ctx, read) : await read(ctx)
  return { value: (await callerMaskerOf(ctx, runId)).json(value) }
}

/** @throws AppError RUN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE */
export async function readValue(ctx: ServiceContext, runId: string, query: unknown): Promise<{ value: JsonValue }> {
  authorize(ctx, 'run:read')
  // Check the run first, so that the answer for a run that does not exist never depends on the query.
  await requireRun(ctx, runId)
  const { field, record } = parseInput(ReadValue, query)
  return readWholeValue(
    ctx,
    record === undefined ? { of: 'run', runId, field } : { of: 'step', runId, seq: record, field },
  )
}

async function ofRun(ctx: ServiceContext, { runId, field }: { runId: string; field: 'input' | 'data' | 'result' }) {
  const value: SQL<JsonValue> | typeof runs.input | typeof runs.result = field === 'data' ? RUN_DATA : runs[field]
  const [row] = await ctx.db.select({ value }).from(runs).where(runIs(ctx, runId))
  if (!row) throw new AppError('RUN_NOT_FOUND')
  return row.value
}

async function ofStep(
  ctx: ServiceContext,
  { runId, seq, field }: { runId: string; seq: number; field: 'input' | 'output' },
) {
  const [row] = await ctx.db
    .select({ value: field === 'input' ? stepRecords.inputData : stepRecords.outputData })
    .from(stepRecords)
    .where(and(eq(stepRecords.tenantId, ctx.tenantId), eq(stepRecords.runId, runId), eq(stepRecords.seq, seq)))
  if (!row) throw noSuchStep()
  return row.value ?? {}
}

/** Null for what the call does not have. */
async function ofCall(
  ctx: ServiceContext,
  { field, at }: { at: ReadCall; field: 'text' | 'args' | 'result' | 'changed' },
): Promise<JsonValue> {
  const call = await findCall(ctx, at)
  if (call.kind === 'model') return field === 'text' ? call.text : null
  if (field === 'changed') return call.decision?.args ?? null
  return field === 'text' ? null : field === 'args' ? call.args : call.result.value
}
