import { compareRun } from '../../runs/backtest/compare'
import { backtestRuns, backtestSample } from '../../runs/backtest/run'
import type { BacktestRun, BacktestRuns, BacktestSample } from '../../runs/backtest/schema'
import type { StepThrough } from '../../runs/step-through/schema'
import { stepThrough } from '../../runs/step-through/step-through'
import { addSamples, createFromSample, listSamples } from '../../tenants/boot/add-samples'
import type { Guarded, One, OneVersion } from '../../versioned/noun'
import type { OneCase } from '../../versioned/test-cases'
import { workflowCases } from '../../views/test-cases'
import { listAssignable } from '../../views/workflows/assignable'
import { type BrowseWorkflows, browseWorkflows } from '../../views/workflows/browse'
import { readCallers } from '../../views/workflows/callers'
import { getChanges } from '../../views/workflows/changes'
import { checkDraft } from '../../views/workflows/check-draft'
import { getDraft } from '../../views/workflows/get-draft'
import { readVersion } from '../../views/workflows/one-version'
import { openRunsByVersion } from '../../views/workflows/open-runs'
import { type ReadScope, readScope } from '../../views/workflows/scope-of'
import { type BrowseStartable, browseStartable, readStartPage } from '../../views/workflows/startable'
import { versionHistory } from '../../views/workflows/version-history'
import { deleteWorkflowPermanently } from '../../workflows/delete-permanently'
import { describeWorkflow } from '../../workflows/describe/describe'
import { listDraftModels } from '../../workflows/describe/models'
import type { DescribeWorkflow } from '../../workflows/describe/schema'
import { exportWorkflow } from '../../workflows/export'
import { getInputSchema } from '../../workflows/input-schema'
import {
  createWorkflow,
  publishWorkflow,
  restoreWorkflowVersion,
  updateWorkflow,
  WORKFLOWS,
} from '../../workflows/lifecycle'
import { type SaveLayout, saveLayout } from '../../workflows/save-layout'
import type { UpdateWorkflow } from '../../workflows/schema'
import { simulateWorkflow } from '../../workflows/simulate'
import {
  changeWorkflowExpected,
  deleteWorkflowCase,
  type ExpectedOfWorkflow,
  type KeepWorkflowCase,
  keepWorkflowCase,
  renameWorkflowCase,
  runWorkflowCases,
} from '../../workflows/test-cases'
import { inputWith, type OnePage, router, tenantProcedure } from '../init'
import { versionedProcedures } from '../versioned'

export const workflowsRouter = router({
  ...versionedProcedures(WORKFLOWS),
  list: tenantProcedure
    .input(inputWith<BrowseWorkflows>())
    .query(({ ctx, input }) => browseWorkflows(ctx.service, input)),
  samples: tenantProcedure.query(({ ctx }) => listSamples(ctx.service)),
  /** For the start pages. */
  startable: tenantProcedure
    .input(inputWith<BrowseStartable>())
    .query(({ ctx, input }) => browseStartable(ctx.service, input)),
  startPage: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => readStartPage(ctx.service, input)),
  /** The START fields of the version a start would run. */
  startFields: tenantProcedure
    .input(inputWith<One>('id'))
    .query(async ({ ctx, input }) => (await getInputSchema(ctx.service, input)).data.payload),
  exportJson: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => exportWorkflow(ctx.service, input)),
  /** Creates a blank workflow, or one from an export. */
  create: tenantProcedure.input(inputWith<unknown>()).mutation(({ ctx, input }) => createWorkflow(ctx.service, input)),
  createFromSample: tenantProcedure
    .input(inputWith<{ sampleId: string; name: string }>())
    .mutation(({ ctx, input }) => createFromSample(ctx.service, input)),
  /** Makes a draft from a description, or changes the given one; saves nothing. */
  describe: tenantProcedure
    .input(inputWith<DescribeWorkflow>())
    .mutation(({ ctx, input, signal }) => describeWorkflow(ctx.service, input, signal ?? never)),
  /** The models that `describe` can ask. */
  draftModels: tenantProcedure.query(({ ctx }) => listDraftModels(ctx.service)),
  addSamples: tenantProcedure.mutation(({ ctx }) => addSamples(ctx.service)),
  deletePermanently: tenantProcedure
    .input(inputWith<One & { terminateRuns?: boolean }>('id'))
    .mutation(({ ctx, input: { id, terminateRuns } }) =>
      deleteWorkflowPermanently(ctx.service, { id, query: terminateRuns ? { terminateRuns: 'true' } : {} }),
    ),

  // For the editor.
  get: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => getDraft(ctx.service, input)),
  check: tenantProcedure
    .input(inputWith<{ definition: unknown }>())
    .query(({ ctx, input }) => checkDraft(ctx.service, input)),
  /** Who can be named as an assignee. */
  assignable: tenantProcedure.query(({ ctx }) => listAssignable(ctx.service)),
  scope: tenantProcedure.input(inputWith<ReadScope>()).query(({ ctx, input }) => readScope(ctx.service, input)),
  /** Takes the body of PUT with the base version of the edit; the details of VERSION_CONFLICT have the current one. */
  save: tenantProcedure
    .input(inputWith<One & { body: UpdateWorkflow }>('id'))
    .mutation(({ ctx, input }) => updateWorkflow(ctx.service, input)),
  saveLayout: tenantProcedure
    .input(inputWith<SaveLayout>())
    .mutation(({ ctx, input }) => saveLayout(ctx.service, input)),
  /** Of the latest saved version. Changes nothing, but repeating it simulates again. */
  simulate: tenantProcedure
    .input(inputWith<One & { body: unknown }>('id'))
    .mutation(({ ctx, input }) => simulateWorkflow(ctx.service, input)),
  /** Where a saved version stands with facts that the caller says. Changes nothing; too large for a query. */
  stepThrough: tenantProcedure
    .input(inputWith<One & { body: StepThrough }>('id'))
    .mutation(({ ctx, input, signal }) => stepThrough(ctx.service, input, signal ?? never)),
  /** Past runs to try on a saved version. Changes nothing, but repeating it may choose others. */
  backtestSample: tenantProcedure
    .input(inputWith<One & { body: BacktestSample }>('id'))
    .mutation(({ ctx, input }) => backtestSample(ctx.service, input)),
  /** Tries some of them. */
  backtestRuns: tenantProcedure
    .input(inputWith<One & { body: BacktestRuns }>('id'))
    .mutation(({ ctx, input, signal }) => backtestRuns(ctx.service, input, signal ?? never)),
  /** The ways of one run on two versions. */
  backtestRun: tenantProcedure
    .input(inputWith<One & { body: BacktestRun }>('id'))
    .query(({ ctx, input, signal }) => compareRun(ctx.service, input, signal ?? never)),
  changes: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => getChanges(ctx.service, input)),
  /** Who and what starts it. */
  callers: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => readCallers(ctx.service, input)),
  publish: tenantProcedure
    .input(inputWith<Guarded & { note?: string }>('id'))
    .mutation(({ ctx, input }) => publishWorkflow(ctx.service, input)),
  cases: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => workflowCases(ctx.service, input)),
  /** Saves an ended run as a test case. */
  keepCase: tenantProcedure
    .input(inputWith<One & { body: KeepWorkflowCase }>('id'))
    .mutation(({ ctx, input }) => keepWorkflowCase(ctx.service, input)),
  renameCase: tenantProcedure
    .input(inputWith<OneCase & { name: string }>('id', 'caseId'))
    .mutation(({ ctx, input }) => renameWorkflowCase(ctx.service, input)),
  changeExpected: tenantProcedure
    .input(inputWith<OneCase & { expected: ExpectedOfWorkflow }>('id', 'caseId'))
    .mutation(({ ctx, input }) => changeWorkflowExpected(ctx.service, input)),
  deleteCase: tenantProcedure
    .input(inputWith<OneCase>('id', 'caseId'))
    .mutation(({ ctx, input }) => deleteWorkflowCase(ctx.service, input)),
  /** Against the latest saved version. */
  runCases: tenantProcedure
    .input(inputWith<One & { body: { only?: string[] } }>('id'))
    .mutation(({ ctx, input, signal }) => runWorkflowCases(ctx.service, input, signal ?? never)),
  versions: tenantProcedure
    .input(inputWith<OnePage>('id'))
    .query(({ ctx, input }) => versionHistory(ctx.service, input)),
  /** The open runs of each version, by step. */
  openRuns: tenantProcedure
    .input(inputWith<One>('id'))
    .query(({ ctx, input }) => openRunsByVersion(ctx.service, input)),
  version: tenantProcedure
    .input(inputWith<OneVersion>('id', 'version'))
    .query(({ ctx, input }) => readVersion(ctx.service, input)),
  restore: tenantProcedure
    .input(inputWith<Guarded & OneVersion>('id', 'version'))
    .mutation(({ ctx, input }) => restoreWorkflowVersion(ctx.service, input)),
})

const never = new AbortController().signal
