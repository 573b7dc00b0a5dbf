import type { ServiceContext } from '@/server/context'
import type { JsonObject } from '@/server/definition/json'
import { invokeTool } from '@/server/tools/invoke'
import { createTool } from '@/server/tools/lifecycle'

/** Saves a tool and calls it like an API client. @returns the answer without the time it took */
export async function make(ctx: ServiceContext, tool: object) {
  const { id } = await createTool(ctx, { name: 'Tool', ...tool })
  return {
    id,
    call: (args: JsonObject = {}, dataContext: JsonObject = {}, who: ServiceContext = ctx) =>
      invoke(who, id, { args, dataContext }),
  }
}

export async function invoke(ctx: ServiceContext, toolId: string, body: object) {
  const { debug, ...outcome } = await invokeTool(ctx, { toolId, body }, new AbortController().signal)
  if (!Number.isInteger(debug.executionTime)) throw new Error('executionTime must be an integer')
  return outcome
}
