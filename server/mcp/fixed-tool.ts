import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Operation } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'

/** A tool of every workspace. Its name has no tail, so it never collides with an object's. */
export interface FixedTool extends Pick<Tool, 'title' | 'description' | 'inputSchema' | 'annotations'> {
  operation: Operation
  call: (ctx: ServiceContext, args: JsonObject, signal: AbortSignal) => Promise<CallToolResult>
}

export const text = (description: string) => ({ type: 'string', description })
