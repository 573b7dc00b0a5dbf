import { tracked } from '@trpc/server'
import type { JsonObject } from '../../definition/json'
import type { RunPart } from '../../definition/part'
import { cancelRun } from '../../runs/cancel'
import { type ReadCauseRuns, readCauseRuns } from '../../runs/causes'
import { type AddComment, addComment, type DeleteComment, deleteComment } from '../../runs/comment'
import { openRunEvents } from '../../runs/events'
import type { ReadCall, ReadCalls } from '../../runs/find-call'
import { moveRuns } from '../../runs/moves/move'
import { type MoveBack, moveBack } from '../../runs/moves/move-back'
import { listMovable } from '../../runs/moves/open-runs'
import type { MoveRuns } from '../../runs/moves/schema'
import { rerunRun } from '../../runs/rerun'
import { resumeRun } from '../../runs/resume'
import { retryRun } from '../../runs/retry'
import { type RevealField, revealField } from '../../runs/reveal'
import type { StopRun } from '../../runs/schema'
import { startRun } from '../../runs/start'
import { terminateRun } from '../../runs/terminate'
import type { WhatIf } from '../../runs/what-if/schema'
import { whatIf } from '../../runs/what-if/what-if'
import { type ReadWholeValue, readWholeValue } from '../../runs/whole-value'
import { rerunWithFiles, type SentParts, startWithFiles } from '../../runs/with-files'
import { type ReadBranches, readBranches } from '../../views/runs/branches'
import { type BrowseRuns, browseRuns } from '../../views/runs/browse'
import { type Bulk, countBulk, type RunBulk, runBulk } from '../../views/runs/bulk'
import { readCall, readCallList } from '../../views/runs/calls'
import { type ReadShownCauses, readShownCauses } from '../../views/runs/causes'
import { listComments } from '../../views/runs/comments'
import { readConversation } from '../../views/runs/conversation'
import { type CountNewRuns, countNewRuns } from '../../views/runs/count-new'
import { type ReadDataAtStep, readDataAtStep } from '../../views/runs/data-at-step'
import { getRunDefinition } from '../../views/runs/definition'
import { type ExportRuns, exportRuns } from '../../views/runs/export'
import type { RunFilter } from '../../views/runs/filter'
import { readOutputs } from '../../views/runs/outputs'
import { getRunOverview } from '../../views/runs/overview'
import { type RefreshRuns, refreshRuns } from '../../views/runs/refresh'
import { type ReadStatusText, readStatusText } from '../../views/runs/status-text'
import { type ReadStep, readStep } from '../../views/runs/step-detail'
import { type ReadStepValues, readStepValues } from '../../views/runs/step-values'
import { type ReadTimeline, readTimeline } from '../../views/runs/timeline'
import { countRuns } from '../../views/runs/totals'
import { listWorkflowNames } from '../../views/workflows/list-names'
import { inputWith, router, tenantProcedure } from '../init'

interface OneRun {
  runId: string
}

/** On which version of the workflow, and from which step. */
interface Again {
  version?: number | 'published' | 'latest'
  fromStepId?: string
}

interface StartInput {
  workflowId: string
  /** The START fields, or the data for a step that runs on its own. */
  data: JsonObject
  version?: string
  part?: RunPart
  /** Marks the run as a test, whatever its version. */
  test?: boolean
  files?: SentParts
}

export const runsRouter = router({
  list: tenantProcedure.input(inputWith<BrowseRuns>()).query(({ ctx, input }) => browseRuns(ctx.service, input)),
  refresh: tenantProcedure.input(inputWith<RefreshRuns>()).query(({ ctx, input }) => refreshRuns(ctx.service, input)),
  countNew: tenantProcedure
    .input(inputWith<CountNewRuns>())
    .query(({ ctx, input }) => countNewRuns(ctx.service, input)),
  totals: tenantProcedure.input(inputWith<RunFilter>()).query(({ ctx, input }) => countRuns(ctx.service, input)),
  exportCsv: tenantProcedure.input(inputWith<ExportRuns>()).query(({ ctx, input }) => exportRuns(ctx.service, input)),
  countBulk: tenantProcedure.input(inputWith<Bulk>()).query(({ ctx, input }) => countBulk(ctx.service, input)),
  bulk: tenantProcedure.input(inputWith<RunBulk>()).mutation(({ ctx, input }) => runBulk(ctx.service, input)),
  /** Why a workflow's latest runs failed, and the runs of one of these causes. */
  causes: tenantProcedure
    .input(inputWith<ReadShownCauses>('workflowId'))
    .query(({ ctx, input }) => readShownCauses(ctx.service, input)),
  causeRuns: tenantProcedure
    .input(inputWith<ReadCauseRuns>('workflowId'))
    .query(({ ctx, input }) => readCauseRuns(ctx.service, input)),
  /** For the workflow filter. */
  workflows: tenantProcedure.query(({ ctx }) => listWorkflowNames(ctx.service)),
  overview: tenantProcedure
    .input(inputWith<OneRun>('runId'))
    .query(({ ctx, input }) => getRunOverview(ctx.service, input)),
  timeline: tenantProcedure
    .input(inputWith<ReadTimeline>())
    .query(({ ctx, input }) => readTimeline(ctx.service, input)),
  branches: tenantProcedure
    .input(inputWith<ReadBranches>())
    .query(({ ctx, input }) => readBranches(ctx.service, input)),
  step: tenantProcedure.input(inputWith<ReadStep>()).query(({ ctx, input }) => readStep(ctx.service, input)),
  /** For the editor's canvas, beside a test run. */
  outputs: tenantProcedure.input(inputWith<OneRun>('runId')).query(({ ctx, input }) => readOutputs(ctx.service, input)),
  /** For trying out a step on its own. */
  stepValues: tenantProcedure
    .input(inputWith<ReadStepValues>('workflowId'))
    .query(({ ctx, input }) => readStepValues(ctx.service, input)),
  /** For rerunning from a step with edited data. */
  dataAtStep: tenantProcedure
    .input(inputWith<ReadDataAtStep>())
    .query(({ ctx, input }) => readDataAtStep(ctx.service, input)),
  conversation: tenantProcedure
    .input(inputWith<ReadStep>())
    .query(({ ctx, input }) => readConversation(ctx.service, input)),
  /** What the agent of a step did, without texts; and one of these calls. */
  calls: tenantProcedure.input(inputWith<ReadCalls>()).query(({ ctx, input }) => readCallList(ctx.service, input)),
  oneCall: tenantProcedure.input(inputWith<ReadCall>()).query(({ ctx, input }) => readCall(ctx.service, input)),
  wholeValue: tenantProcedure
    .input(inputWith<ReadWholeValue>())
    .query(({ ctx, input }) => readWholeValue(ctx.service, input)),
  reveal: tenantProcedure.input(inputWith<RevealField>()).mutation(({ ctx, input }) => revealField(ctx.service, input)),
  statusText: tenantProcedure
    .input(inputWith<ReadStatusText>())
    .query(({ ctx, input }) => readStatusText(ctx.service, input)),
  definition: tenantProcedure
    .input(inputWith<OneRun>('runId'))
    .query(({ ctx, input }) => getRunDefinition(ctx.service, input)),
  /**
   * The events of the run's stream. `lastEventId` is the last change the client has seen; after a lost connection, the
   * last event.
   */
  changes: tenantProcedure
    .input(inputWith<OneRun & { lastEventId?: string | null }>('runId'))
    .subscription(async function* ({ ctx, input }) {
      const from = { runId: input.runId, lastEventId: input.lastEventId ?? null, calls: true }
      const open = await openRunEvents(ctx.service, from)
      if (!open) return
      for await (const event of open(ctx.left)) yield tracked(event.id, event)
    }),
  start: tenantProcedure
    .input(inputWith<StartInput>('workflowId'))
    .mutation(({ ctx, input: { workflowId, data, version, files, part, test } }) =>
      files === undefined
        ? startRun(ctx.service, { workflowId, body: data, version, part, test })
        : startWithFiles(ctx.service, { workflowId, data, version, part, test, files }),
    ),
  resume: tenantProcedure
    .input(inputWith<OneRun & { body: unknown }>('runId'))
    .mutation(({ ctx, input }) => resumeRun(ctx.service, input)),
  comments: tenantProcedure
    .input(inputWith<OneRun>('runId'))
    .query(({ ctx, input }) => listComments(ctx.service, input)),
  comment: tenantProcedure.input(inputWith<AddComment>()).mutation(({ ctx, input }) => addComment(ctx.service, input)),
  deleteComment: tenantProcedure
    .input(inputWith<DeleteComment>())
    .mutation(({ ctx, input }) => deleteComment(ctx.service, input)),
  cancel: tenantProcedure.input(inputWith<StopRun>()).mutation(({ ctx, input }) => cancelRun(ctx.service, input)),
  terminate: tenantProcedure.input(inputWith<StopRun>()).mutation(({ ctx, input }) => terminateRun(ctx.service, input)),
  /** How a run would go with changed values. Changes nothing, unless hidden values are asked for. */
  whatIf: tenantProcedure
    .input(inputWith<OneRun & { body: WhatIf }>('runId'))
    .mutation(({ ctx, input, signal }) => whatIf(ctx.service, input, signal ?? never)),
  /** The open runs of a workflow on other versions, each with whether it can be moved. */
  movable: tenantProcedure
    .input(inputWith<{ workflowId: string; to: number; after?: string | undefined }>('workflowId'))
    .query(({ ctx, input: { workflowId, ...query } }) => listMovable(ctx.service, { id: workflowId, query })),
  move: tenantProcedure.input(inputWith<MoveRuns>()).mutation(({ ctx, input }) => moveRuns(ctx.service, input)),
  moveBack: tenantProcedure.input(inputWith<MoveBack>()).mutation(({ ctx, input }) => moveBack(ctx.service, input)),
  retry: tenantProcedure
    .input(inputWith<OneRun & { body?: Again }>('runId'))
    .mutation(({ ctx, input: { runId, body } }) => retryRun(ctx.service, { runId, body })),
  rerun: tenantProcedure
    .input(inputWith<OneRun & { body: Again & { data?: JsonObject }; files?: SentParts }>('runId'))
    .mutation(({ ctx, input: { runId, body, files } }) =>
      files === undefined
        ? rerunRun(ctx.service, { runId, body })
        : rerunWithFiles(ctx.service, { runId, data: body.data ?? {}, version: body.version, files }),
    ),
})

const never = new AbortController().signal
