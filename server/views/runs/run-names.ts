import { and, eq, inArray } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import type { ServiceContext } from '../../context'
import type { Masker } from '../../vault/mask'

/** What people recognise a run by: its business key, if any, and its workflow. */
export function calledRun({ workflowName, businessKey }: { workflowName: string; businessKey: string | null }): string {
  return businessKey === null ? workflowName : `${businessKey} · ${workflowName}`
}

export interface RunName {
  name: string
  /** Without a business key, several runs have the same name. */
  keyed: boolean
}

/** The names of these runs by id, without deleted ones. */
export async function runNames(
  ctx: ServiceContext,
  ids: Iterable<string | null>,
  masker: Masker,
): Promise<Map<string, RunName>> {
  const wanted = [...new Set(ids)].filter((id) => id !== null)
  if (wanted.length === 0) return new Map()
  const rows = await ctx.db
    .select({ id: runs.id, workflowName: runs.workflowName, businessKey: runs.businessKey })
    .from(runs)
    .where(and(eq(runs.tenantId, ctx.tenantId), inArray(runs.id, wanted)))
  return new Map(
    rows.map((run) => [run.id, { name: masker.text(calledRun(run)), keyed: run.businessKey !== null }] as const),
  )
}
