import { toolAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { getToolVersion } from '@/server/tools/get-version'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/tools/[toolId]/versions/[version]', {
  GET: route<'toolId' | 'version'>(
    async ({ ctx, params }) => toolAnswer(await getToolVersion(ctx, { id: params.toolId, version: params.version })),
    {
      surface: 'invoke',
    },
  ),
})
