import { z } from 'zod'
import { time } from '../openapi/fields'

/** The fields of a list entry of agents, tools or workflows. */
export const itemFields = (texts: { id: string; publishedVersion: string }) => ({
  id: z.string().describe(texts.id),
  name: z.string(),
  description: z.string(),
  status: z.enum(['draft', 'published', 'archived']),
  createdAt: time('When it was created.'),
  updatedAt: time('When it was last saved, published or archived.'),
  version: z.int().min(1).describe('The latest saved version. Increases with every change.'),
  publishedVersion: z.int().min(1).nullable().describe(texts.publishedVersion),
})

/** The fields of an entry in a list of versions. */
export const versionFields = (texts: { id: string; published: string }) => ({
  id: z.string().describe(texts.id),
  version: z.int().min(1),
  name: z.string(),
  createdAt: time('When it was saved.'),
  createdBy: z.string(),
  publishedAt: time('When it was published.').nullable(),
  current: z.boolean().describe('Whether it is the latest.'),
  published: z.boolean().describe(texts.published),
})
