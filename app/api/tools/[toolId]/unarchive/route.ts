import { methods, route } from '@/server/http/route'
import { toolAnswer } from '@/server/tools/answer'
import { unarchiveTool } from '@/server/tools/archive'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  POST: route<'toolId'>(async ({ ctx, params }) => toolAnswer(await unarchiveTool(ctx, params.toolId)), {
    surface: 'invoke',
  }),
})
