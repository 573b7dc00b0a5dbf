import { z } from 'zod'

const Id = z.union([z.string(), z.number()])

/** For the document only: the SDK checks what is sent. */
export const McpMessage = z.object({
  jsonrpc: z.literal('2.0'),
  id: Id.optional(),
  method: z.string().optional(),
  params: z.record(z.string(), z.json()).optional(),
  result: z.record(z.string(), z.json()).optional(),
  error: z.record(z.string(), z.json()).optional(),
})

export const McpReply = z.object({
  jsonrpc: z.literal('2.0'),
  id: Id,
  result: z.record(z.string(), z.json()).describe('Depends on the method.').optional(),
  error: z
    .object({ code: z.number().int(), message: z.string(), data: z.json().optional() })
    .describe('An error of the protocol, such as an unknown method or tool.')
    .optional(),
})
