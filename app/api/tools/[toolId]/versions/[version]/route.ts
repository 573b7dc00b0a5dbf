import { methods, route } from '@/server/http/route'
import { toolAnswer } from '@/server/tools/answer'
import { getToolVersionDetails } from '@/server/tools/versions'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'toolId' | 'version'>(async ({ ctx, params }) => toolAnswer(await getToolVersionDetails(ctx, params)), {
    surface: 'invoke',
  }),
})
