import { and, eq, inArray } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { readSchedules } from '../../schedules/list'
import { tenantMasker } from '../../vault/masker'

/** The schedules of all workflows, with the workflows' names. */
export async function browseSchedules(ctx: ServiceContext) {
  authorize(ctx, 'workflow:read')
  const schedules = await readSchedules(ctx)
  const ids = [...new Set(schedules.map(({ workflowId }) => workflowId))]
  const named = await ctx.db
    .select({ id: workflows.id, name: workflows.name, status: workflows.status })
    .from(workflows)
    .where(and(eq(workflows.tenantId, ctx.tenantId), inArray(workflows.id, ids)))
  const masker = await tenantMasker(ctx)
  const byId = new Map(named.map((workflow) => [workflow.id, workflow]))
  return schedules.map((schedule) => {
    const workflow = byId.get(schedule.workflowId)
    return {
      ...schedule,
      workflowName: masker.text(workflow?.name ?? schedule.workflowId),
      /** An archived workflow starts no runs. */
      archived: workflow?.status === 'archived',
    }
  })
}

export type ScheduleItem = Awaited<ReturnType<typeof browseSchedules>>[number]
