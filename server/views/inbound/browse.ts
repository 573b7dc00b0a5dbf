import { and, eq, inArray } from 'drizzle-orm'
import { workflows } from '@/db/schema/workflows'
import { authorize, may } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { readInbound } from '../../inbound/list'
import { tenantMasker } from '../../vault/masker'

/**
 * The inbound webhooks of all workflows, with the workflows' names. Only people who may change them get their
 * addresses.
 */
export async function browseInbound(ctx: ServiceContext) {
  authorize(ctx, 'workflow:read')
  const webhooks = await readInbound(ctx)
  const ids = [...new Set(webhooks.map(({ workflowId }) => workflowId))]
  const named = await ctx.db
    .select({ id: workflows.id, name: workflows.name, status: workflows.status })
    .from(workflows)
    .where(and(eq(workflows.tenantId, ctx.tenantId), inArray(workflows.id, ids)))
  const masker = await tenantMasker(ctx)
  const byId = new Map(named.map((workflow) => [workflow.id, workflow]))
  const shown = may(ctx.actor.role, 'workflow:publish')
  return webhooks.map((webhook) => {
    const workflow = byId.get(webhook.workflowId)
    return {
      ...webhook,
      path: shown ? webhook.path : null,
      workflowName: masker.text(workflow?.name ?? webhook.workflowId),
      /** An archived workflow starts no runs. */
      archived: workflow?.status === 'archived',
    }
  })
}

export type InboundItem = Awaited<ReturnType<typeof browseInbound>>[number]
