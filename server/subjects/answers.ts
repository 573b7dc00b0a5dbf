import { z } from 'zod'

const counts = {
  runs: z.int().min(0).describe('Runs that it started, and runs that repeat them or were started by them.'),
  files: z.int().min(0).describe('Files of these runs and conversations.'),
  threads: z.int().min(0).describe('Conversations with agents.'),
  events: z.int().min(0).describe('Events that it posted.'),
  idempotencyKeys: z.int().min(0).describe('Responses kept for its idempotency keys.'),
}

export const SubjectDataCount = z.object({
  sub: z.string(),
  ...counts,
  openRuns: z.int().min(0).describe('How many of the runs are open.'),
  atLeast: z.boolean().describe('True if there is more: runs, threads, events and keys are counted up to 10,001.'),
})

export const DeletedSubjectData = z.object({
  sub: z.string(),
  deleted: z.object(counts).describe('What this call has deleted.'),
  done: z.boolean().describe('False if there is more: call again.'),
})
