import type { ServiceContext } from '../context'
import { textsUnder } from '../definition/sensitive'
import type { FileRow } from '../files/find'
import { giveWay } from '../give-way'
import { hiddenNames, valuesOfRun } from './run-values'

/**
 * Those of the files that a sensitive field of their run has, or had: then no field has it now.
 * @returns their ids
 */
export async function hiddenFiles(
  ctx: ServiceContext,
  found: readonly Pick<FileRow, 'id' | 'runId'>[],
): Promise<Set<string>> {
  const byRun = new Map<string, string[]>()
  for (const { id, runId } of found) if (runId !== null) byRun.set(runId, [...(byRun.get(runId) ?? []), id])
  const hidden = new Set<string>()
  const names = await hiddenNames(ctx, [...byRun.keys()])
  for (const [runId, ids] of byRun) {
    const ofRun = names.get(runId)
    if (!ofRun || ofRun.size === 0) continue
    // One by one: a run's data may be large.
    const stored = await valuesOfRun(ctx, runId)
    const under = textsUnder(stored, ofRun).join('\n').toLowerCase()
    const all = JSON.stringify(stored).toLowerCase()
    for (const id of ids) if (under.includes(id) || !all.includes(id)) hidden.add(id)
    await giveWay(ctx.tenantId)
  }
  return hidden
}
