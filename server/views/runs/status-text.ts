import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { runMaskerOf } from '../../runs/run-masker'
import { getRunStatus } from '../../runs/status'
import { wholeChars } from '../../whole-chars'

/** Screens get more than this only when they ask for it. */
const AT_ONCE = 256 * 1024

export const ReadStatusText = z.object({ runId: z.string(), whole: z.boolean().optional() })
export type ReadStatusText = z.input<typeof ReadStatusText>

/**
 * The body of `GET /api/workflow/status/:runId`, indented: its start or all of it, with vault values masked and
 * sensitive fields hidden.
 * @throws AppError RUN_NOT_FOUND
 */
export async function readStatusText(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:read')
  const { runId, whole = false } = parseInput(ReadStatusText, input)
  const [status, masker] = await Promise.all([getRunStatus(ctx, { runId }), runMaskerOf(ctx, runId)])
  const text = JSON.stringify(masker.hides.size === 0 ? status : masker.json(status), null, 2)
  const cut = !whole && text.length > AT_ONCE
  return { text: cut ? wholeChars(text, AT_ONCE) : text, size: Buffer.byteLength(text), cut }
}
