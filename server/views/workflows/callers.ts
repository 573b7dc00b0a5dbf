import { and, asc, count, desc, eq, gte, inArray, isNotNull, max, sql } from 'drizzle-orm'
import { inboundWebhooks } from '@/db/schema/inbound'
import { runs } from '@/db/schema/runs'
import { schedules } from '@/db/schema/schedules'
import { workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { listWorkingStartLinks } from '../../links/start/list'
import { tenantMasker } from '../../vault/masker'
import type { One } from '../../versioned/noun'
import { findRow } from '../../versioned/rows'
import { WORKFLOW } from '../../workflows/noun'
import { nameActors } from '../actors'
import { type UserOf, workflowsWith } from '../users-of'
import { numbersOf } from './numbers'

/** A schedule or webhook that starts the workflow. */
export interface Starter {
  id: string
  name: string
  enabled: boolean
}

/** A link with which anybody starts the workflow. */
export interface CallingLink {
  id: string
  label: string | null
  madeBy: string
  expiresAt: string
}

/** A workflow that runs this one. */
export interface Parent extends UserOf {
  /** The number of the version it keeps to; null if that is a draft, or none. */
  keepsNumber: number | null
}

/** A caller that started runs lately, of the version published then. */
export interface RecentCaller {
  id: string
  kind: 'user' | 'apiKey' | 'token'
  name: string
  runs: number
  lastAt: string
}

export interface WorkflowCallers {
  /** Published workflows with a step that runs this one. */
  parents: Parent[]
  schedules: Starter[]
  inbound: Starter[]
  /** The newest start links that work. */
  links: CallingLink[]
  /** The callers of the last 30 days, most recent first. */
  recent: RecentCaller[]
}

/** Enough to show who is affected; nobody would read a list of hundreds. */
const MAX = 100
const MAX_RECENT = 20
const RECENT_MS = 30 * 24 * 60 * 60 * 1_000
/** How many of the latest runs to examine, so that it is as fast with a million. */
const LATEST_RUNS = 2_000
/** How many of the newest published versions to examine. */
const LATEST_VERSIONS = 50
/** The ways of starting whose callers a new version concerns; the list shows the other starters anyway. */
const PEOPLE = ['apiKey', 'jwt', 'user'] as const

/**
 * Who and what starts a workflow, and so gets its next version.
 * @throws AppError WORKFLOW_NOT_FOUND
 */
export async function readCallers(ctx: ServiceContext, { id }: One): Promise<WorkflowCallers> {
  authorize(ctx, 'workflow:read')
  await findRow(ctx, WORKFLOW, id)
  const starter = (table: typeof schedules | typeof inboundWebhooks) =>
    ctx.db
      .select({ id: table.id, name: table.name, enabled: table.enabled })
      .from(table)
      .where(and(eq(table.tenantId, ctx.tenantId), eq(table.workflowId, id)))
      .orderBy(asc(table.name), asc(table.id))
      .limit(MAX)
  const [masker, parents, scheduled, inbound, links, recent] = await Promise.all([
    tenantMasker(ctx),
    workflowsWith(ctx, { id, of: 'workflow' }),
    starter(schedules),
    starter(inboundWebhooks),
    listWorkingStartLinks(ctx, { workflowId: id }),
    readRecent(ctx, id),
  ])
  const [nameOf, numberOf] = await Promise.all([
    nameActors(ctx, [...recent.map(({ by }) => by), ...links.map(({ createdBy }) => createdBy)]),
    numbersOf(
      ctx,
      parents.flatMap(({ keepsTo }) => (keepsTo === null ? [] : [{ workflowId: id, version: keepsTo }])),
    ),
  ])
  return {
    parents: parents
      .filter((parent) => parent.id !== id)
      .map((parent) => ({ ...parent, keepsNumber: parent.keepsTo === null ? null : numberOf(id, parent.keepsTo) })),
    schedules: masker.json(scheduled),
    inbound: masker.json(inbound),
    links: links.map(({ createdBy, ...link }) => ({ ...link, madeBy: nameOf(createdBy)?.name ?? createdBy })),
    recent: recent.flatMap(({ by, runs: times, lastAt }) => {
      const who = nameOf(by)
      if (!who || who.kind === 'system' || lastAt === null) return []
      return [{ ...who, kind: who.kind, name: masker.text(who.name), runs: times, lastAt: lastAt.toISOString() }]
    }),
  }
}

/**
 * Version by version, newest first, because that is the time order of the index of a workflow's runs. Reads no more
 * runs than it counts, however many versions exist.
 */
function readRecent(ctx: ServiceContext, id: string) {
  const published = ctx.db
    .select({ version: workflowVersions.version })
    .from(workflowVersions)
    .where(
      and(
        eq(workflowVersions.tenantId, ctx.tenantId),
        eq(workflowVersions.workflowId, id),
        isNotNull(workflowVersions.publishedAt),
      ),
    )
    .orderBy(desc(workflowVersions.version))
    .limit(LATEST_VERSIONS)
    .as('published')
  const ofVersion = ctx.db
    .select({
      startedBy: runs.startedBy,
      startedVia: runs.startedVia,
      startTime: runs.startTime,
      parent: runs.parentRunId,
    })
    .from(runs)
    .where(
      and(
        eq(runs.tenantId, ctx.tenantId),
        eq(runs.workflowId, id),
        eq(runs.workflowVersion, published.version),
        gte(runs.startTime, new Date(ctx.now().getTime() - RECENT_MS)),
      ),
    )
    .orderBy(desc(runs.startTime))
    .limit(LATEST_RUNS)
    .as('of_version')
  const latest = ctx.db
    .select({
      startedBy: ofVersion.startedBy,
      startedVia: ofVersion.startedVia,
      startTime: ofVersion.startTime,
      parent: ofVersion.parent,
    })
    .from(published)
    .crossJoinLateral(ofVersion)
    .limit(LATEST_RUNS)
    .as('latest')
  return ctx.db
    .select({ by: latest.startedBy, runs: count(), lastAt: max(latest.startTime) })
    .from(latest)
    .where(and(inArray(latest.startedVia, [...PEOPLE]), sql`${latest.parent} is null`))
    .groupBy(latest.startedBy)
    .orderBy(desc(max(latest.startTime)))
    .limit(MAX_RECENT)
}
