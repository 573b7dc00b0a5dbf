import { z } from 'zod'
import { isId } from '../ids'

/** The document that a caller asks for. */
export const ReadTypedApi = z.object({
  workflows: z.literal('published').describe('Return the document of the workspace.'),
  only: z
    .string()
    .max(10_000)
    .transform((text) => [...new Set(text.split(',').filter(Boolean))])
    .pipe(z.array(z.string().refine(isId, 'is not an id')).min(1, 'names nothing').max(100))
    .optional()
    .describe(
      'In the document of the workspace: only the published workflows, agents and tools with these ids, up to 100, separated by commas.',
    ),
})
