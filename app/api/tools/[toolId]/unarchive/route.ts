import { methods, route } from '@/server/rest/route'
import { toolAnswer } from '@/server/rest/tool'
import { unarchiveTool } from '@/server/tools/archive'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'toolId'>(async ({ ctx, params }) => toolAnswer(await unarchiveTool(ctx, params.toolId)), {
    surface: 'invoke',
  }),
})
