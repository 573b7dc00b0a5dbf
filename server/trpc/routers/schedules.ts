import type { JsonObject } from '../../definition/json'
import type { OneSchedule } from '../../schedules/find'
import { getSchedule } from '../../schedules/list'
import { createSchedule, deleteSchedule, updateSchedule } from '../../schedules/save'
import { browseSchedules } from '../../views/schedules/browse'
import { inputWith, router, tenantProcedure } from '../init'

interface Plan {
  name: string
  cron: string
  timeZone: string
  catchUp: 'skip' | 'once'
  data: JsonObject
}

export const schedulesRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseSchedules(ctx.service)),
  get: tenantProcedure
    .input(inputWith<OneSchedule>('workflowId', 'scheduleId'))
    .query(({ ctx, input }) => getSchedule(ctx.service, input)),
  create: tenantProcedure
    .input(inputWith<{ workflowId: string; body: Plan }>('workflowId'))
    .mutation(({ ctx, input }) => createSchedule(ctx.service, input)),
  update: tenantProcedure
    .input(inputWith<OneSchedule & { body: Partial<Plan> & { enabled?: boolean } }>('workflowId', 'scheduleId'))
    .mutation(({ ctx, input }) => updateSchedule(ctx.service, input)),
  delete: tenantProcedure
    .input(inputWith<OneSchedule>('workflowId', 'scheduleId'))
    .mutation(({ ctx, input }) => deleteSchedule(ctx.service, input)),
})
