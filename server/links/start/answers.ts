import { z } from 'zod'
import { component } from '../../definition/component'
import { time } from '../../openapi/fields'
import { MAX_STARTS } from './schema'

const link = {
  id: z.string(),
  workflowId: z.string(),
  label: z.string().nullable().describe('What it is for.'),
  createdBy: z.string().describe('The member, the API key or the token’s `sub` that made it.'),
  createdAt: time('When it was made.'),
  expiresAt: time('Until when it works, unless it is revoked before.'),
  revokedAt: time('When it was revoked.').nullable(),
  makerMayStart: z
    .boolean()
    .describe('Whether its maker still may start the workflow. While they may not, the link does not work.'),
  starts: z.int().describe(`How many runs it has started; ${MAX_STARTS} if more.`),
}

export const StartLink = component('StartLink', link)
export const CreatedStartLink = component('CreatedStartLink', {
  ...link,
  url: z.url().describe('The link. Only this response contains it.'),
})
