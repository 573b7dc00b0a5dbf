import { methods, route } from '@/server/rest/route'
import { listSchedules } from '@/server/schedules/list'
import { createSchedule } from '@/server/schedules/save'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/schedules', {
  GET: route<'id'>(async ({ ctx, params }) => ({ body: await listSchedules(ctx, { workflowId: params.id }) })),
  POST: route<'id'>(async ({ ctx, params, body }) => {
    const created = await createSchedule(ctx, { workflowId: params.id, body })
    const location = `/api/workflows/${created.workflowId}/schedules/${created.id}`
    return { status: 201, headers: { location }, body: created }
  }),
})
