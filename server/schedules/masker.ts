import { seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { sensitiveFields } from '../definition/sensitive'
import { giveWay } from '../give-way'
import { hidingMasker, hidingNothing, type RunMasker } from '../vault/hide'
import type { Masker } from '../vault/mask'
import { findWhole } from '../versioned/row-at'
import { WORKFLOW } from '../workflows/noun'
import type { ScheduleRow } from './present'

type Of = Pick<ScheduleRow, 'id' | 'workflowId' | 'data'>

/**
 * Maskers, by id, for schedules as shown to the caller: they hide the same data as the runs that the schedules start.
 */
export async function scheduleMaskers(
  ctx: ServiceContext,
  schedules: readonly Of[],
  vault: Masker,
): Promise<(id: string) => RunMasker> {
  const hides = new Map<string, ReadonlySet<string>>()
  // One by one: a definition may be large.
  for (const { workflowId } of seesHidden(ctx) ? schedules : []) {
    if (hides.has(workflowId)) continue
    const { content } = await findWhole(ctx, WORKFLOW, workflowId, 'started')
    await giveWay(ctx.tenantId)
    hides.set(workflowId, sensitiveFields(content))
  }
  const plain = hidingNothing(vault)
  const maskers = schedules.map(({ id, workflowId, data }) => {
    const names = hides.get(workflowId) ?? plain.hides
    return [id, names.size === 0 ? plain : hidingMasker(vault, names, [data])] as const
  })
  const byId = new Map(maskers)
  return (id) => byId.get(id) ?? plain
}

/** The same for one. */
export async function scheduleMasker(ctx: ServiceContext, schedule: Of, vault: Masker): Promise<RunMasker> {
  return (await scheduleMaskers(ctx, [schedule], vault))(schedule.id)
}
