import { countTasks } from '../../views/tasks/count'
import { getTask } from '../../views/tasks/get'
import { listTasks } from '../../views/tasks/list'
import type { CountTasks, GetTask, ListTasks } from '../../views/tasks/schema'
import { given, router, tenantProcedure } from '../init'

/** Tasks are answered through `runs.resume`, like every pause. */
export const tasksRouter = router({
  list: tenantProcedure.input(given<ListTasks>()).query(({ ctx, input }) => listTasks(ctx.service, input)),
  count: tenantProcedure
    .input(given<CountTasks | undefined>())
    .query(({ ctx, input }) => countTasks(ctx.service, input)),
  get: tenantProcedure.input(given<GetTask>()).query(({ ctx, input }) => getTask(ctx.service, input)),
})
