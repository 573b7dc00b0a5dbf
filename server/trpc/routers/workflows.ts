import { addSamples, createFromSample, listSamples } from '../../tenants/boot/add-samples'
import { type BrowseWorkflows, browseWorkflows } from '../../views/workflows/browse'
import { getChanges } from '../../views/workflows/changes'
import { checkDraft } from '../../views/workflows/check-draft'
import { getDraft } from '../../views/workflows/get-draft'
import { type ReadScope, readScope } from '../../views/workflows/scope-of'
import { versionHistory } from '../../views/workflows/version-history'
import { archiveWorkflow, unarchiveWorkflow, undoArchiveWorkflow } from '../../workflows/archive'
import { cloneWorkflow } from '../../workflows/clone'
import { createWorkflow } from '../../workflows/create'
import { deleteWorkflowPermanently } from '../../workflows/delete-permanently'
import { exportWorkflow } from '../../workflows/export'
import { getVersion } from '../../workflows/get-version'
import { getInputSchema } from '../../workflows/input-schema'
import { publishWorkflow } from '../../workflows/publish'
import { restoreVersion } from '../../workflows/restore-version'
import { type SaveLayout, saveLayout } from '../../workflows/save-layout'
import type { UpdateWorkflow } from '../../workflows/schema'
import { updateWorkflow } from '../../workflows/update'
import { given, router, tenantProcedure } from '../init'

interface OneWorkflow {
  id: string
}

/** `version` is the one that was looked at: another is a conflict. */
interface SeenWorkflow extends OneWorkflow {
  version: number
}

/** A version as the `If-Match` header of REST says it, which the verbs read. */
const tag = (version: number) => `"${Number.isSafeInteger(version) ? version : ''}"`

export const workflowsRouter = router({
  list: tenantProcedure.input(given<BrowseWorkflows>()).query(({ ctx, input }) => browseWorkflows(ctx.service, input)),
  samples: tenantProcedure.query(({ ctx }) => listSamples(ctx.service)),
  /** The START fields of the version that a start would run. */
  startFields: tenantProcedure
    .input(given<OneWorkflow>('id'))
    .query(async ({ ctx, input }) => (await getInputSchema(ctx.service, input.id)).data.payload),
  exportJson: tenantProcedure
    .input(given<OneWorkflow>('id'))
    .query(({ ctx, input }) => exportWorkflow(ctx.service, input.id)),
  /** Blank, or what an export says. */
  create: tenantProcedure.input(given<unknown>()).mutation(({ ctx, input }) => createWorkflow(ctx.service, input)),
  createFromSample: tenantProcedure
    .input(given<{ sampleId: string; name: string }>())
    .mutation(({ ctx, input }) => createFromSample(ctx.service, input)),
  addSamples: tenantProcedure.mutation(({ ctx }) => addSamples(ctx.service)),
  clone: tenantProcedure
    .input(given<OneWorkflow>('id'))
    .mutation(({ ctx, input }) => cloneWorkflow(ctx.service, input.id)),
  archive: tenantProcedure
    .input(given<OneWorkflow>('id'))
    .mutation(({ ctx, input }) => archiveWorkflow(ctx.service, input.id)),
  unarchive: tenantProcedure
    .input(given<OneWorkflow>('id'))
    .mutation(({ ctx, input }) => unarchiveWorkflow(ctx.service, input.id)),
  undoArchive: tenantProcedure
    .input(given<OneWorkflow>('id'))
    .mutation(({ ctx, input }) => undoArchiveWorkflow(ctx.service, input.id)),
  deletePermanently: tenantProcedure
    .input(given<OneWorkflow & { terminateRuns?: boolean }>('id'))
    .mutation(({ ctx, input }) =>
      deleteWorkflowPermanently(ctx.service, {
        id: input.id,
        query: input.terminateRuns ? { terminateRuns: 'true' } : {},
      }),
    ),

  // The editor.
  get: tenantProcedure.input(given<OneWorkflow>('id')).query(({ ctx, input }) => getDraft(ctx.service, input.id)),
  check: tenantProcedure
    .input(given<{ definition: unknown }>())
    .query(({ ctx, input }) => checkDraft(ctx.service, input)),
  scope: tenantProcedure.input(given<ReadScope>()).query(({ ctx, input }) => readScope(ctx.service, input)),
  /** The body of PUT with the version it began with; VERSION_CONFLICT names the current one in its details. */
  save: tenantProcedure
    .input(given<{ id: string; body: UpdateWorkflow }>('id'))
    .mutation(({ ctx, input }) => updateWorkflow(ctx.service, { id: input.id, body: input.body })),
  saveLayout: tenantProcedure.input(given<SaveLayout>()).mutation(({ ctx, input }) => saveLayout(ctx.service, input)),
  changes: tenantProcedure.input(given<OneWorkflow>('id')).query(({ ctx, input }) => getChanges(ctx.service, input.id)),
  publish: tenantProcedure
    .input(given<SeenWorkflow>('id'))
    .mutation(({ ctx, input }) => publishWorkflow(ctx.service, input.id, { ifMatch: tag(input.version) })),
  versions: tenantProcedure
    .input(given<OneWorkflow & { limit?: string; offset?: string }>('id'))
    .query(({ ctx, input: { id, ...page } }) => versionHistory(ctx.service, { id, page })),
  version: tenantProcedure
    .input(given<{ id: string; version: string }>('id', 'version'))
    .query(({ ctx, input }) => getVersion(ctx.service, input)),
  restore: tenantProcedure
    .input(given<{ id: string; version: string; current: number }>('id', 'version'))
    .mutation(({ ctx, input: { id, version, current } }) =>
      restoreVersion(ctx.service, { id, version, ifMatch: tag(current) }),
    ),
})
