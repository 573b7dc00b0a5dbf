import { authorize } from '../auth/policy'
import type { ServiceContext, TransactionContext } from '../context'
import { samePins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import { parseInput } from '../parse'
import { lifecycleOf } from '../versioned/lifecycle'
import type { Guarded, OneVersion } from '../versioned/noun'
import type { Candidate } from '../versioned/publish'
import { restoreVersion } from '../versioned/restore-version'
import { advice } from './advice'
import { checkDefinition, requireRunnable } from './check/definition'
import { mergeDefinition, newDefinition } from './definition'
import { findPins } from './find-pins'
import { WORKFLOW } from './noun'
import { type PresentedWorkflow, presentVersion, type VersionRow } from './present'
import { CreateWorkflow, ListWorkflows, UpdateWorkflow } from './schema'
import { hintsOf } from './simulate'

export const WORKFLOWS = lifecycleOf(WORKFLOW, {
  newContent: (body) => newDefinition(parseInput(CreateWorkflow, body)),
  update: { schema: UpdateWorkflow, merge: mergeDefinition },
  list: ListWorkflows,
  presentVersion,
  check: checkToPublish,
})

export const {
  list: listWorkflows,
  create: createWorkflow,
  get: getWorkflow,
  update: updateWorkflow,
  archive: archiveWorkflow,
  unarchive: unarchiveWorkflow,
  undoArchive: undoArchiveWorkflow,
  publish: publishWorkflow,
  duplicate: duplicateWorkflow,
  listVersions: listWorkflowVersions,
  getVersion: getWorkflowVersion,
} = WORKFLOWS

/**
 * Checks a version, and pins the current versions of its tools, agents and workflows. If one of those has a newer
 * version, publishing again makes a new version.
 * @throws AppError VALIDATION_FAILED
 */
async function checkToPublish(tx: TransactionContext, { version, content, live }: Candidate<VersionRow, Definition>) {
  // A published version stays published, even if a tool it calls is gone by now.
  const warnings = await (live
    ? advice(tx, 'check of what is published', () => checkDefinition(tx, content), [])
    : requireRunnable(tx, content))
  const hints = live ? [] : await hintsOf(tx, content, warnings)
  const report = { warnings: [...warnings, ...hints] }
  if (warnings.some(({ severity }) => severity === 'error')) return { report }
  const pins = await findPins(tx, content)
  return { report, columns: { pins }, renews: !samePins(version.pins, pins) }
}

/**
 * Saves an earlier version as the next one without publishing it. Restoring the current version changes nothing.
 * @throws AppError WORKFLOW_NOT_FOUND, WORKFLOW_ARCHIVED, VERSION_CONFLICT, INVALID_INPUT
 */
export async function restoreWorkflowVersion(
  ctx: ServiceContext,
  input: Guarded & OneVersion,
): Promise<PresentedWorkflow> {
  authorize(ctx, 'workflow:publish')
  return restoreVersion(ctx, WORKFLOW, input)
}
