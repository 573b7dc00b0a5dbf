import { addSamples, createFromSample, listSamples } from '../../boot/add-samples'
import { archiveWorkflow, unarchiveWorkflow } from '../../workflows/archive'
import { type BrowseWorkflows, browseWorkflows } from '../../workflows/browse'
import { cloneWorkflow } from '../../workflows/clone'
import { createWorkflow } from '../../workflows/create'
import { deleteWorkflowPermanently } from '../../workflows/delete-permanently'
import { exportWorkflow } from '../../workflows/export'
import { getInputSchema } from '../../workflows/input-schema'
import { given, router, tenantProcedure } from '../init'

interface OneWorkflow {
  id: string
}

export const workflowsRouter = router({
  list: tenantProcedure.input(given<BrowseWorkflows>()).query(({ ctx, input }) => browseWorkflows(ctx.service, input)),
  samples: tenantProcedure.query(({ ctx }) => listSamples(ctx.service)),
  /** The START fields of the version that a start would run. */
  startFields: tenantProcedure
    .input(given<OneWorkflow>())
    .query(async ({ ctx, input }) => (await getInputSchema(ctx.service, input.id)).data.payload),
  exportJson: tenantProcedure
    .input(given<OneWorkflow>())
    .query(({ ctx, input }) => exportWorkflow(ctx.service, input.id)),
  /** Blank, or what an export says. */
  create: tenantProcedure.input(given<unknown>()).mutation(({ ctx, input }) => createWorkflow(ctx.service, input)),
  createFromSample: tenantProcedure
    .input(given<{ sampleId: string; name: string }>())
    .mutation(({ ctx, input }) => createFromSample(ctx.service, input)),
  addSamples: tenantProcedure.mutation(({ ctx }) => addSamples(ctx.service)),
  clone: tenantProcedure.input(given<OneWorkflow>()).mutation(({ ctx, input }) => cloneWorkflow(ctx.service, input.id)),
  archive: tenantProcedure
    .input(given<OneWorkflow>())
    .mutation(({ ctx, input }) => archiveWorkflow(ctx.service, input.id)),
  unarchive: tenantProcedure
    .input(given<OneWorkflow>())
    .mutation(({ ctx, input }) => unarchiveWorkflow(ctx.service, input.id)),
  deletePermanently: tenantProcedure
    .input(given<OneWorkflow & { terminateRuns?: boolean }>())
    .mutation(({ ctx, input }) =>
      deleteWorkflowPermanently(ctx.service, {
        id: input.id,
        query: input.terminateRuns ? { terminateRuns: 'true' } : {},
      }),
    ),
})
