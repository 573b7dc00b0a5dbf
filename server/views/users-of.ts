import { and, eq, ne, type SQL, sql } from 'drizzle-orm'
import { agents, agentVersions } from '@/db/schema/agents'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { AgentConfig } from '../definition/agent'
import { withPins } from '../definition/pins'
import type { Definition } from '../definition/schema'
import { giveWay } from '../give-way'
import { contains } from '../query/search-text'
import { findStepType } from '../steps/registry'
import type { One } from '../versioned/noun'
import { WORKFLOW } from '../workflows/noun'

/** A published workflow, or an agent, that uses a tool or an agent. */
export interface UserOf {
  kind: 'workflow' | 'agent'
  id: string
  name: string
  /** The version it keeps to, whatever is published; null if it follows the newest. */
  keepsTo: number | null
  /** Whether it keeps to that version until it is published again. */
  pinned: boolean
}

export interface FindUsers extends One {
  of: 'tool' | 'agent'
}

/** Enough to show who is affected; nobody would read a list of hundreds. */
const MAX = 100

/** The current users of a tool or an agent, by name. Drafts of workflows do not count: nobody runs them. */
export async function findUsers(ctx: ServiceContext, { id, of }: FindUsers): Promise<UserOf[]> {
  authorize(ctx, `${of}:read`)
  const found = await Promise.all([workflowsWith(ctx, { id, of }), agentsWith(ctx, { id, of })])
  return found.flat().sort((a, b) => a.name.localeCompare(b.name))
}

/** Published workflows whose steps use a tool, an agent or another workflow. */
export async function workflowsWith(
  ctx: ServiceContext,
  { id, of }: One & { of: FindUsers['of'] | 'workflow' },
): Promise<UserOf[]> {
  const published = and(
    eq(workflowVersions.tenantId, workflows.tenantId),
    eq(workflowVersions.workflowId, workflows.id),
    eq(workflowVersions.version, workflows.publishedVersion),
  )
  const named = await ctx.db
    .select({ name: workflows.name, id: workflows.id, version: workflowVersions.version })
    .from(workflows)
    .innerJoin(workflowVersions, published)
    .where(
      and(
        eq(workflows.tenantId, ctx.tenantId),
        eq(workflows.status, 'published'),
        names(sql`${workflowVersions.definition}`, id),
      ),
    )
    .orderBy(workflows.name)
    .limit(MAX)
  const users: UserOf[] = []
  // One at a time: a hundred definitions may be a hundred megabytes.
  for (const { name, ...one } of named) {
    const [row] = await ctx.db
      .select()
      .from(workflowVersions)
      .where(
        and(
          eq(workflowVersions.tenantId, ctx.tenantId),
          eq(workflowVersions.workflowId, one.id),
          eq(workflowVersions.version, one.version),
        ),
      )
    if (!row) continue
    await giveWay(ctx.tenantId)
    const definition = WORKFLOW.contentOf(row)
    const uses = versionsOf(definition, { id, of })
    if (uses.length === 0) continue
    const keepsTo = keptBy(versionsOf(withPins(definition, row.pins), { id, of }).map((use) => use ?? 'latest'))
    users.push({ kind: 'workflow', id: one.id, name, keepsTo, pinned: uses.includes(undefined) })
  }
  return users
}

/** The versions that its steps use; undefined for a step without one. */
function versionsOf(
  { steps }: Definition,
  { id, of }: One & { of: FindUsers['of'] | 'workflow' },
): (string | number | undefined)[] {
  return steps.flatMap((step) => {
    const type = findStepType(step.type)
    const config = type?.uses && type.config.safeParse(step)
    const uses = config?.success ? (type?.uses?.(config.data) ?? []) : []
    return uses.filter((use) => use.kind === of && use.id === id).map(({ version }) => version)
  })
}

async function agentsWith(ctx: ServiceContext, { id, of }: FindUsers): Promise<UserOf[]> {
  const latest = and(
    eq(agentVersions.tenantId, agents.tenantId),
    eq(agentVersions.agentId, agents.id),
    eq(agentVersions.version, agents.version),
  )
  const rows = await ctx.db
    .select({ id: agents.id, name: agents.name, config: agentVersions.config })
    .from(agents)
    .innerJoin(agentVersions, latest)
    .where(
      and(eq(agents.tenantId, ctx.tenantId), ne(agents.status, 'archived'), names(sql`${agentVersions.config}`, id)),
    )
    .orderBy(agents.name)
    .limit(MAX)
  return rows.flatMap(({ config, ...agent }) => {
    const versions = versionsIn(config, { id, of })
    return versions.length === 0 ? [] : [{ kind: 'agent', ...agent, keepsTo: keptBy(versions), pinned: false }]
  })
}

function versionsIn({ tools, handoffs }: AgentConfig, { id, of }: FindUsers): (string | number)[] {
  const uses =
    of === 'tool'
      ? tools.map((use) => ({ ...use, id: use.toolId }))
      : handoffs.map((use) => ({ ...use, id: use.agentId }))
  return uses.filter((use) => use.id === id).map(({ version }) => version)
}

/** A single step or tool that follows the newest version makes it affected. */
function keptBy(versions: readonly (string | number)[]): number | null {
  const numbers = versions.map(Number)
  return numbers.every(Number.isInteger) ? Math.max(...numbers) : null
}

/** A prefilter that avoids reading each definition as JSON. */
function names(json: SQL, id: string): SQL {
  return sql`${json}::text like ${contains(JSON.stringify(id))}`
}
