import { and, eq, inArray, sql } from 'drizzle-orm'
import { agents } from '@/db/schema/agents'
import { workflows, workflowVersions } from '@/db/schema/workflows'
import type { ServiceContext } from '../../context'
import { tenantMasker } from '../../vault/masker'

/** The current names of workflows, their steps and agents. Deleted ones are shown by their id. */
export async function namesOf(ctx: ServiceContext, ids: { workflows: string[]; agents: string[] }) {
  const [rows, agentRows, masker] = await Promise.all([
    ctx.db
      .select({ id: workflows.id, name: workflows.name, definition: workflowVersions.definition })
      .from(workflows)
      .innerJoin(
        workflowVersions,
        and(
          eq(workflowVersions.tenantId, workflows.tenantId),
          eq(workflowVersions.workflowId, workflows.id),
          // Not an unpublished draft, unless the workflow has no other version.
          eq(workflowVersions.version, sql`coalesce(${workflows.publishedVersion}, ${workflows.version})`),
        ),
      )
      .where(and(eq(workflows.tenantId, ctx.tenantId), inArray(workflows.id, [...new Set(ids.workflows)]))),
    ctx.db
      .select({ id: agents.id, name: agents.name })
      .from(agents)
      .where(and(eq(agents.tenantId, ctx.tenantId), inArray(agents.id, ids.agents))),
    tenantMasker(ctx),
  ])
  const known = new Map(rows.map((row) => [row.id, row]))
  const knownAgents = new Map(agentRows.map((row) => [row.id, row.name]))
  return {
    workflow: (id: string) => masker.text(known.get(id)?.name ?? id),
    step: (id: string, stepId: string) => {
      const step = known.get(id)?.definition.steps.find((one) => one.id === stepId)
      return masker.text(typeof step?.name === 'string' && step.name !== '' ? step.name : stepId)
    },
    agent: (id: string) => masker.text(knownAgents.get(id) ?? id),
  }
}
