import { z } from 'zod'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { isId } from '../../ids'
import { parseInput } from '../../parse'
import { withoutHiddenMessages } from './hidden'
import { type RunItem, readRunItems } from './items'

export const RefreshRuns = z.object({ runIds: z.array(z.string().refine(isId, 'is not an id')).max(100) })
export type RefreshRuns = z.input<typeof RefreshRuns>

/**
 * The current state of a list's runs; omits deleted ones.
 * @throws AppError INVALID_INPUT
 */
export async function refreshRuns(ctx: ServiceContext, input: unknown): Promise<RunItem[]> {
  authorize(ctx, 'run:read')
  return withoutHiddenMessages(ctx, await readRunItems(ctx, parseInput(RefreshRuns, input).runIds))
}
