import { z } from 'zod'
import { component } from '../../definition/component'

export const BATCH = /^mov_[0-9A-Za-z]{1,40}$/

export const MoveRuns = component('MoveRuns', {
  workflowId: z.string().min(1).describe('The workflow of the runs.'),
  toVersion: z.number().int().min(1).describe('The published version on which they continue.'),
  runIds: z.array(z.string().min(1).max(100)).min(1).max(100).describe('The open runs to move.'),
  asksAgain: z
    .boolean()
    .default(false)
    .describe('Also move runs whose task asks something else in that version: it is asked again, in its place.'),
  dropVotes: z
    .boolean()
    .default(false)
    .describe('With `asksAgain`: drop the votes that were cast at a task that is asked again.'),
  reason: z.string().trim().max(1_000).nullish().describe('Kept with each move.'),
  batch: z
    .string()
    .regex(BATCH, 'must be the batch of an earlier call')
    .optional()
    .describe('The `batch` of an earlier call, so that these moves belong to it.'),
})
export type MoveRuns = z.input<typeof MoveRuns>
