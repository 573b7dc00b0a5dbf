import { methods, route } from '@/server/rest/route'
import { startAndWait } from '@/server/runs/start-and-wait'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/start/[workflowId]', {
  POST: route<'workflowId'>(
    async ({ ctx, params, query, body, request, signal }) => {
      const { run, workflowVersion } = await startAndWait(ctx, {
        workflowId: params.workflowId,
        body,
        version: query.version,
        prefer: request.headers.get('prefer'),
        signal,
      })
      return {
        status: run.status === 'completed' || run.status === 'failed' ? 200 : 202,
        headers: { location: `/api/workflow/status/${run.runId}`, 'x-workflow-version': String(workflowVersion) },
        body: run,
      }
    },
    { acceptsForm: true, checksKey: true, limit: 'starts', onlyWaits: true },
  ),
})

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
