import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import type { JsonValue } from '../../definition/json'
import { getRunRow } from '../../interpreter/find-run'
import { parseInput } from '../../parse'
import { tenantMasker } from '../../vault/masker'
import { findRecord } from './step-detail'

/** A value of a run, or of one of its visits. */
export const ReadWholeValue = z.discriminatedUnion('of', [
  z.object({ of: z.literal('run'), runId: z.string(), field: z.enum(['input', 'data', 'result']) }),
  z.object({
    of: z.literal('step'),
    runId: z.string(),
    seq: z.number().int().min(0),
    field: z.enum(['input', 'output']),
  }),
])
export type ReadWholeValue = z.input<typeof ReadWholeValue>

/**
 * The whole of a value that was shown cut.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT
 */
export async function readWholeValue(ctx: ServiceContext, input: unknown): Promise<{ value: JsonValue }> {
  authorize(ctx, 'run:read')
  const wanted = parseInput(ReadWholeValue, input)
  const value = wanted.of === 'run' ? await ofRun(ctx, wanted) : await ofStep(ctx, wanted)
  return { value: (await tenantMasker(ctx)).json(value) }
}

async function ofRun(ctx: ServiceContext, { runId, field }: { runId: string; field: 'input' | 'data' | 'result' }) {
  return (await getRunRow(ctx, runId))[field] ?? null
}

async function ofStep(
  ctx: ServiceContext,
  { runId, seq, field }: { runId: string; seq: number; field: 'input' | 'output' },
) {
  const record = await findRecord(ctx, runId, seq)
  return (field === 'input' ? record.inputData : record.outputData) ?? {}
}
