import { workflows, workflowVersions } from '@/db/schema/workflows'
import { inLanguage, LANGUAGE } from '../definition/language'
import { type Definition, MAX_NAME } from '../definition/schema'
import type { Noun } from '../versioned/noun'
import { sameDefinition } from './definition'
import { foldPrevious } from './fold'
import { type PresentedWorkflow, presentWorkflow, type VersionRow, type WorkflowRow } from './present'

/**
 * Workflows, for the shared lifecycle in `server/versioned`. Only workflows are autosaved as versions, so only they
 * fold versions.
 */
export const WORKFLOW: Noun<WorkflowRow, VersionRow, Definition, PresentedWorkflow> = {
  word: 'workflow',
  idPrefix: 'wf',
  table: workflows,
  versions: workflowVersions,
  ownerId: workflowVersions.workflowId,
  notFound: 'WORKFLOW_NOT_FOUND',
  archived: 'WORKFLOW_ARCHIVED',
  noSuchVersion: 'The workflow has no such version.',
  maxName: MAX_NAME,
  insertVersion: (ctx, { id, ...saved }, definition) =>
    ctx.db.insert(workflowVersions).values({ ...saved, workflowId: id, definition, language: LANGUAGE }),
  contentOf: ({ definition, language }) => inLanguage(definition, language),
  same: sameDefinition,
  present: presentWorkflow,
  fold: foldPrevious,
  carriedOver: ({ layout }) => ({ layout }),
}
