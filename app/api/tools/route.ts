import { toolAnswer } from '@/server/rest/answers'
import { listAnswer } from '@/server/rest/page'
import { methods, route } from '@/server/rest/route'
import { createTool } from '@/server/tools/create'
import { listTools } from '@/server/tools/list'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools', {
  GET: route(async ({ ctx, query, request }) => listAnswer(request, await listTools(ctx, query)), {
    surface: 'invoke',
  }),
  POST: route(async ({ ctx, body }) => toolAnswer(await createTool(ctx, body), 201), { surface: 'invoke' }),
})
