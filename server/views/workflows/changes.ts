import { and, asc, count, eq, gt, inArray, isNull, ne } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { type DefinitionDiff, diffDefinitions } from '../../definition/diff'
import type { Layout } from '../../definition/layout'
import { samePins } from '../../definition/pins'
import type { Definition } from '../../definition/schema'
import type { One } from '../../versioned/noun'
import { versionToPublish } from '../../versioned/publish'
import { findRowAt } from '../../versioned/row-at'
import { findVersion } from '../../versioned/rows'
import { checkDefinition } from '../../workflows/check/definition'
import type { Problem } from '../../workflows/check/problem'
import { findPins } from '../../workflows/find-pins'
import { WORKFLOW } from '../../workflows/noun'
import { hintsOf } from '../../workflows/simulate'
import { nameActors } from '../actors'
import { nextNumber } from './numbers'
import { type UsedVersion, usedVersions } from './used-versions'

export interface WorkflowChanges {
  /** The version that publishing would replace; null if none is published. */
  from: number | null
  /** The version that publishing would make, once there are no errors; `from` if publishing does nothing. */
  to: number
  /** Their numbers as shown to people. */
  numbers: { from: number | null; to: number }
  /** The latest version, which contains the changes. */
  latest: number
  /**
   * Publishing does nothing: the latest version is live, with the newest versions of its tools, agents and workflows.
   */
  live: boolean
  diff: DefinitionDiff
  /** Both sides, for a text comparison; null if `from` is. */
  before: Definition | null
  after: Definition
  /** Where the editor shows the steps, also deleted ones that were published. */
  layout: Layout
  /** Who has saved since then, and how many versions. A burst of autosaves counts as one. */
  authors: { id: string; name: string; versions: number }[]
  /** Open runs, which stay on their version. Tests do not count. */
  running: number
  problems: Problem[]
  /** The tools, agents and workflows whose version in use would change. */
  uses: UsedVersion[]
}

const EMPTY: Definition = { name: '', description: '', initialStep: null, steps: [], edges: [], payload: {} }

/** A first publication breaks nothing: the workflow has no callers. */
function firstDiff(after: Definition): DefinitionDiff {
  const diff = diffDefinitions({ ...EMPTY, name: after.name }, after)
  return { ...diff, payload: diff.payload.map((change) => ({ ...change, breaking: null })) }
}

/**
 * The changes that publishing would make, and whom they affect.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function getChanges(ctx: ServiceContext, { id }: One): Promise<WorkflowChanges> {
  authorize(ctx, 'workflow:read')
  const { row, version: saved } = await findRowAt(ctx, WORKFLOW, id, 'latest')
  const from = row.publishedVersion
  const [published, saves, [open], next] = await Promise.all([
    from === null ? null : findVersion(ctx, WORKFLOW, row, from),
    ctx.db
      .select({ by: workflowVersions.createdBy, versions: count() })
      .from(workflowVersions)
      .where(
        and(
          eq(workflowVersions.tenantId, ctx.tenantId),
          eq(workflowVersions.workflowId, id),
          gt(workflowVersions.version, from ?? 0),
        ),
      )
      .groupBy(workflowVersions.createdBy)
      .orderBy(asc(workflowVersions.createdBy)),
    ctx.db
      .select({ count: count() })
      .from(runs)
      .where(
        and(
          eq(runs.tenantId, ctx.tenantId),
          eq(runs.workflowId, id),
          inArray(runs.status, ['running', 'paused']),
          // So that the index of open runs is used.
          isNull(runs.outcome),
          ne(runs.startedVia, 'test'),
        ),
      ),
    nextNumber(ctx, id),
  ])
  const [before, after] = [published && WORKFLOW.contentOf(published), WORKFLOW.contentOf(saved)]
  const pins = await findPins(ctx, after)
  const to = versionToPublish(row, saved, !samePins(saved.pins, pins))
  const [problems, uses, name] = await Promise.all([
    checkDefinition(ctx, after),
    usedVersions(ctx, published?.pins ?? null, pins),
    nameActors(
      ctx,
      saves.map(({ by }) => by),
    ),
  ])
  return {
    from,
    to: to ?? row.version,
    // The published version keeps its number.
    numbers: {
      from: published?.number ?? null,
      to: (to === null || to === row.version ? saved.number : null) ?? next,
    },
    latest: row.version,
    live: to === null,
    diff: before ? diffDefinitions(before, after) : firstDiff(after),
    before,
    after,
    layout: row.layout,
    authors: saves.map(({ by, versions }) => ({ id: by, name: name(by)?.name ?? by, versions })),
    running: open?.count ?? 0,
    // A simulation's hints do not block publishing.
    problems: from === row.version ? problems : [...problems, ...(await hintsOf(ctx, after, problems))],
    uses,
  }
}
