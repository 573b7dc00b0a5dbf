import { z } from 'zod'
import { MAX_PLACE } from '../definition/branches'
import { STORABLE } from '../query/storable-text'

/** Names one task: a run and its pause. */
export const TaskAt = z.object({
  runId: z.string().max(100),
  pauseId: z
    .string()
    .max(MAX_PLACE)
    .refine(...STORABLE),
})
export type TaskAt = z.input<typeof TaskAt>
