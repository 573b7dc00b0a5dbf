import { z } from 'zod'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { AppError } from '../errors'
import { isId } from '../ids'
import { largeRead } from '../large-reads'
import { parseInput } from '../parse'
import { DEFAULT_PAGE, pageAfter } from '../query/values'
import { presentStep } from './present'
import { callerMaskerOf } from './run-masker'
import { readRecords } from './stored-run'

const MAX_LIMIT = 1_000

/** The query string. */
export const ReadHistory = z.object(pageAfter(MAX_LIMIT))

/**
 * A page of a run's records, oldest first, in the form of the status.
 * @throws AppError RUN_NOT_FOUND, INVALID_INPUT, UNAVAILABLE
 */
export async function readHistory(ctx: ServiceContext, runId: string, input: unknown) {
  authorize(ctx, 'run:read')
  const { after = 0, limit = DEFAULT_PAGE } = parseInput(ReadHistory, input)
  if (!isId(runId)) throw new AppError('RUN_NOT_FOUND')
  const [found, masker] = await Promise.all([
    largeRead(ctx, (reading) => readRecords(reading, runId, { after, limit })),
    callerMaskerOf(ctx, runId),
  ])
  if (!found) throw new AppError('RUN_NOT_FOUND')
  const { steps, total } = found
  return {
    runId,
    historyTotal: total,
    stepExecutionHistory: steps.map((step) => presentStep(runId, step, masker)),
    next: steps.length < limit ? null : String(steps.at(-1)?.seq),
  }
}
