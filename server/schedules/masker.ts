import { seesHidden } from '../auth/policy'
import type { ServiceContext } from '../context'
import { sensitiveFields } from '../definition/sensitive'
import { hidingMasker, type RunMasker } from '../vault/hide'
import type { Masker } from '../vault/mask'
import { findWhole } from '../versioned/row-at'
import { WORKFLOW } from '../workflows/noun'
import type { ScheduleRow } from './present'

type Of = Pick<ScheduleRow, 'id' | 'workflowId' | 'data'>

/** Maskers, by id, for what the caller is shown of schedules: their data is hidden as the runs that they start hide it. */
export async function scheduleMaskers(
  ctx: ServiceContext,
  schedules: readonly Of[],
  vault: Masker,
): Promise<(id: string) => RunMasker> {
  const ids = seesHidden(ctx) ? [...new Set(schedules.map(({ workflowId }) => workflowId))] : []
  const found = ids.map(async (id) => {
    const { content } = await findWhole(ctx, WORKFLOW, id, 'started')
    return [id, sensitiveFields(content)] as const
  })
  const hides = new Map(await Promise.all(found))
  const plain = { ...vault, hides: new Set<string>(), vault }
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
