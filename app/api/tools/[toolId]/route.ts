import { toolAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { archiveTool } from '@/server/tools/archive'
import { getTool } from '@/server/tools/get'
import { updateTool } from '@/server/tools/update'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/[toolId]', {
  GET: route<'toolId'>(async ({ ctx, params }) => toolAnswer(await getTool(ctx, { id: params.toolId })), {
    surface: 'invoke',
  }),
  PUT: route<'toolId'>(
    async ({ ctx, params, body, request }) => {
      const ifMatch = request.headers.get('if-match')
      return toolAnswer(await updateTool(ctx, { id: params.toolId, body, ifMatch }))
    },
    { surface: 'invoke' },
  ),
  DELETE: route<'toolId'>(async ({ ctx, params }) => toolAnswer(await archiveTool(ctx, { id: params.toolId })), {
    surface: 'invoke',
  }),
})
