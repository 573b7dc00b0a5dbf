import { toolAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { publishTool } from '@/server/tools/publish'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/[toolId]/publish', {
  POST: route<'toolId'>(
    async ({ ctx, params, request }) => {
      const ifMatch = request.headers.get('if-match')
      return toolAnswer(await publishTool(ctx, { id: params.toolId, ifMatch }))
    },
    { surface: 'invoke' },
  ),
})
