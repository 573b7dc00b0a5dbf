import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'

const Id = z.union([z.string(), z.number()])

/** For the document only: the SDK checks what is sent. */
export const McpMessage = component('McpMessage', {
  jsonrpc: z.literal('2.0'),
  id: Id.optional(),
  method: z.string().optional(),
  params: z.record(z.string(), AnyJson).optional(),
  result: z.record(z.string(), AnyJson).optional(),
  error: z.record(z.string(), AnyJson).optional(),
})

export const McpReply = component('McpReply', {
  jsonrpc: z.literal('2.0'),
  id: Id,
  result: z.record(z.string(), AnyJson).describe('Depends on the method.').optional(),
  error: z
    .object({ code: z.number().int(), message: z.string(), data: AnyJson.optional() })
    .describe('An error of the protocol, such as an unknown method or tool.')
    .optional(),
})
