import { toolAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { getToolVersionDetails } from '@/server/tools/versions'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods({
  GET: route<'toolId' | 'version'>(async ({ ctx, params }) => toolAnswer(await getToolVersionDetails(ctx, params)), {
    surface: 'invoke',
  }),
})
