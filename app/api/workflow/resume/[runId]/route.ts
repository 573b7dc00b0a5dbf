import { methods, route } from '@/server/rest/route'
import { resumeRun } from '@/server/runs/resume'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflow/resume/[runId]', {
  POST: route<'runId'>(
    async ({ ctx, params, body }) => ({ body: await resumeRun(ctx, { runId: params.runId, body }) }),
    { checksKey: true },
  ),
})
