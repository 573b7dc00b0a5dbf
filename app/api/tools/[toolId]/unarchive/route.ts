import { toolAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { unarchiveTool } from '@/server/tools/archive'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/[toolId]/unarchive', {
  POST: route<'toolId'>(async ({ ctx, params }) => toolAnswer(await unarchiveTool(ctx, { id: params.toolId })), {
    surface: 'invoke',
  }),
})
