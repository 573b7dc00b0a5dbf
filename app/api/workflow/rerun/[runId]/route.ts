import { methods, route } from '@/server/rest/route'
import { rerunRun } from '@/server/runs/rerun'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/rerun/[runId]', {
  POST: route<'runId'>(
    async ({ ctx, params, body }) => {
      const answer = await rerunRun(ctx, { runId: params.runId, body })
      return { headers: { location: `/api/workflow/status/${answer.runId}` }, body: answer }
    },
    { limit: 'starts' },
  ),
})
