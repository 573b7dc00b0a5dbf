import { methods, route } from '@/server/rest/route'
import { startRun } from '@/server/runs/start'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/start-async/[workflowId]', {
  POST: route<'workflowId'>(
    async ({ ctx, params, query, body }) => {
      const { runId, workflowVersion } = await startRun(ctx, {
        workflowId: params.workflowId,
        body,
        version: query.version,
      })
      return {
        headers: { location: `/api/workflow/status/${runId}`, 'x-workflow-version': String(workflowVersion) },
        body: { runId },
      }
    },
    { acceptsForm: true, checksKey: true, limit: 'starts' },
  ),
})
