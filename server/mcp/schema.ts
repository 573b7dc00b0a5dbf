import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component } from '../definition/component'

const Id = z.union([z.string(), z.number()])

/** For the document only: the SDK checks messages. */
export const McpMessage = component('McpMessage', {
  jsonrpc: z.literal('2.0').describe('The version of JSON-RPC.'),
  id: Id.optional().describe('Names a request; notifications have none.'),
  method: z.string().optional().describe('Such as `tools/list` or `tools/call`. A response has none.'),
  params: z.record(z.string(), AnyJson).optional().describe('Depends on the method.'),
  result: z
    .record(z.string(), AnyJson)
    .optional()
    .describe('Of a response to a question of the server, which has the id of the question and no method.'),
  error: z.record(z.string(), AnyJson).optional().describe('The same, if the client could not ask.'),
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
