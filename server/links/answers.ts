import { z } from 'zod'
import { component } from '../definition/component'
import { time } from '../openapi/fields'

const link = {
  id: z.string(),
  runId: z.string(),
  pauseId: z.string(),
  createdBy: z.string().describe('The member, the API key or the token’s `sub` that made it.'),
  answeredBy: z
    .string()
    .nullable()
    .describe('Whom the answer counts for: a member’s id, or what an API key named; null for `createdBy`.'),
  createdAt: time('When it was made.'),
  expiresAt: time('Until when it works, unless it is used or revoked before.'),
  usedAt: time('When it was answered with.').nullable(),
  revokedAt: time('When it was revoked.').nullable(),
}

export const TaskLink = component('TaskLink', link)
export const CreatedTaskLink = component('CreatedTaskLink', {
  ...link,
  url: z.url().describe('The link. Only this response contains it.'),
})
