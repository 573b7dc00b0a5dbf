import { methods, route } from '@/server/rest/route'
import { invokeTool } from '@/server/tools/invoke'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/[toolId]/invoke', {
  POST: route<'toolId'>(
    async ({ ctx, params, body, signal }) => ({
      body: await invokeTool(ctx, { toolId: params.toolId, body }, signal),
    }),
    { surface: 'invoke', limit: 'invokes' },
  ),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
