import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { getWorkflowVersion } from '@/server/workflows/get-version'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/versions/[version]', {
  GET: route<'id' | 'version'>(async ({ ctx, params }) => workflowAnswer(await getWorkflowVersion(ctx, params))),
})
