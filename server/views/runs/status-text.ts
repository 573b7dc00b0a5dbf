import { z } from 'zod'
import { wholeChars } from '@/lib/whole-chars'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { parseInput } from '../../parse'
import { getRunStatus } from '../../runs/status'

/** Screens get more than this only on request. */
const AT_ONCE = 256 * 1024

export const ReadStatusText = z.object({ runId: z.string(), whole: z.boolean().optional() })
export type ReadStatusText = z.input<typeof ReadStatusText>

/**
 * The indented body of `GET /api/workflow/status/:runId`: its start or all of it.
 * @throws AppError RUN_NOT_FOUND
 */
export async function readStatusText(ctx: ServiceContext, input: unknown) {
  authorize(ctx, 'run:read')
  const { runId, whole = false } = parseInput(ReadStatusText, input)
  const text = JSON.stringify(await getRunStatus(ctx, { runId }), null, 2)
  const cut = !whole && text.length > AT_ONCE
  return { text: cut ? wholeChars(text, AT_ONCE) : text, size: Buffer.byteLength(text), cut }
}
