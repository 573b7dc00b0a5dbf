import { addFile } from '../../runs/add-file'
import { type ClaimTask, claimTask } from '../../runs/claim'
import { holdAnswer } from '../../runs/held/hold'
import { dismissRefusal, undoAnswer } from '../../runs/held/undo'
import type { TaskAt } from '../../runs/task-at'
import type { SentFile } from '../../runs/with-files'
import { listTakers } from '../../views/tasks/claims'
import { countTasks, countViews } from '../../views/tasks/count'
import { readFirstTask } from '../../views/tasks/first'
import { getTask } from '../../views/tasks/get'
import { listRefused } from '../../views/tasks/held'
import { listTasks } from '../../views/tasks/list'
import type { CountTasks, GetTask, ListTasks } from '../../views/tasks/schema'
import { inputWith, router, tenantProcedure } from '../init'

export const tasksRouter = router({
  list: tenantProcedure.input(inputWith<ListTasks>()).query(({ ctx, input }) => listTasks(ctx.service, input)),
  count: tenantProcedure
    .input(inputWith<CountTasks | undefined>())
    .query(({ ctx, input }) => countTasks(ctx.service, input)),
  countViews: tenantProcedure
    .input(inputWith<CountTasks | undefined>())
    .query(({ ctx, input }) => countViews(ctx.service, input)),
  get: tenantProcedure.input(inputWith<GetTask>()).query(({ ctx, input }) => getTask(ctx.service, input)),
  /** The caller's own first task of a run that they have just started. Waits a moment for it to pause. */
  first: tenantProcedure
    .input(inputWith<{ runId: string }>('runId'))
    .query(({ ctx, input }) => readFirstTask(ctx.service, input, ctx.left)),
  /** The caller's rejected answers. */
  refused: tenantProcedure.query(({ ctx }) => listRefused(ctx.service)),
  answer: tenantProcedure
    .input(inputWith<{ runId: string; body: unknown }>('runId'))
    .mutation(({ ctx, input }) => holdAnswer(ctx.service, input)),
  /** For a file field of an answer. */
  addFile: tenantProcedure
    .input(inputWith<TaskAt & { file: SentFile }>())
    .mutation(({ ctx, input }) => addFile(ctx.service, input)),
  dismiss: tenantProcedure.input(inputWith<TaskAt>()).mutation(({ ctx, input }) => dismissRefusal(ctx.service, input)),
  undo: tenantProcedure.input(inputWith<TaskAt>()).mutation(({ ctx, input }) => undoAnswer(ctx.service, input)),
  claim: tenantProcedure.input(inputWith<ClaimTask>()).mutation(({ ctx, input }) => claimTask(ctx.service, input)),
  /** The members who may be given a task. */
  takers: tenantProcedure.input(inputWith<TaskAt>()).query(({ ctx, input }) => listTakers(ctx.service, input)),
})
