import { z } from 'zod'
import { STORABLE } from '../storable-text'

/** Names one task: a run and its pause. */
export const TaskAt = z.object({
  runId: z.string().max(100),
  pauseId: z
    .string()
    .max(300)
    .refine(...STORABLE),
})
export type TaskAt = z.input<typeof TaskAt>
