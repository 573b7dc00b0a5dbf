import type { z } from 'zod'
import type { Answer, Example, ResponseHeader } from './types'

/** A successful response of JSON, in the document's form. */
export function answer(
  description: string,
  schema: z.ZodType,
  examples: Record<string, Example>,
  headers?: readonly ResponseHeader[],
): Answer {
  return { description, schema, ...(headers && { headers }), examples }
}
