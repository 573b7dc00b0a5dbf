import { methods, route } from '@/server/rest/route'
import { getSchedule } from '@/server/schedules/list'
import { deleteSchedule, updateSchedule } from '@/server/schedules/save'

type Part = 'id' | 'scheduleId'
const named = ({ id, scheduleId }: Record<Part, string>) => ({ workflowId: id, scheduleId })

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/workflows/[id]/schedules/[scheduleId]', {
  GET: route<Part>(async ({ ctx, params }) => ({ body: await getSchedule(ctx, named(params)) })),
  PUT: route<Part>(async ({ ctx, params, body }) => ({ body: await updateSchedule(ctx, { ...named(params), body }) })),
  DELETE: route<Part>(async ({ ctx, params }) => ({ body: await deleteSchedule(ctx, named(params)) })),
})
