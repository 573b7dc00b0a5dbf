import { methods, route } from '@/server/rest/route'
import { retryRun } from '@/server/runs/retry'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/retry/[runId]', {
  POST: route<'runId'>(
    async ({ ctx, params }) => {
      const answer = await retryRun(ctx, { runId: params.runId })
      return { headers: { location: `/api/workflow/status/${answer.runId}` }, body: answer }
    },
    { limit: 'starts' },
  ),
})
