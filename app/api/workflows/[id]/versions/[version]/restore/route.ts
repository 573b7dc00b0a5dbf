import { workflowAnswer } from '@/server/rest/answers'
import { methods, route } from '@/server/rest/route'
import { restoreWorkflowVersion } from '@/server/workflows/restore-version'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/versions/[version]/restore', {
  POST: route<'id' | 'version'>(async ({ ctx, params, request }) => {
    const ifMatch = request.headers.get('if-match')
    return workflowAnswer(await restoreWorkflowVersion(ctx, { ...params, ifMatch }))
  }),
})
