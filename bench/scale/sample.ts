import type { Sql } from '@/db/types'

/** Arguments for a workspace's queries. */
export interface Sample {
  tenantId: string
  /** A member. */
  userId: string
  runs: number
  /** The workflow with most runs, and the one with fewest. */
  busy: string
  rare: string
  businessKey: string
  /** Completed runs with their history, and waiting runs; the id of the waiting one's workspace may have none. */
  completed: string
  paused: string | null
  /** In the middle of all runs. */
  middle: { startTime: Date; id: string }
}

/** @param rank 1 for the workspace with most runs */
export async function takeSample(sql: Sql, rank: number): Promise<Sample> {
  const [of] = await sql<{ tenantId: string; userId: string; busy: string; rare: string }[]>`
    select tenant_id as "tenantId", user_id as "userId", min(workflow_id) filter (where w = 1) as busy,
      min(workflow_id) filter (where w = 8) as rare
    from scale.shares where rank = ${rank} group by 1, 2`
  if (!of) throw new Error(`there is no workspace ${rank}`)
  const { tenantId } = of
  const [count] = await sql<{ runs: number }[]>`select count(*)::int as runs from runs where tenant_id = ${tenantId}`
  const newest = (where: ReturnType<Sql>) => sql<{ id: string; key: string }[]>`
    select id, business_key as key from runs where tenant_id = ${tenantId} and ${where} order by start_time desc limit 1`
  const [keyed] = await newest(sql`business_key is not null`)
  const [any] = await newest(sql`outcome = 'succeeded'`)
  const [done = any] = await newest(sql`outcome = 'succeeded' and change % 128 = 0`)
  const [paused] = await newest(sql`status = 'paused' and outcome is null`)
  const [middle] = await sql<{ startTime: Date; id: string }[]>`
    select start_time as "startTime", id from runs where tenant_id = ${tenantId}
      and start_time <= (select (min(start_time) + (max(start_time) - min(start_time)) / 2) from runs where tenant_id = ${tenantId})
    order by start_time desc limit 1`
  if (!count || !keyed || !done || !middle) throw new Error(`workspace ${rank} has too few runs to ask for`)
  return { ...of, ...count, businessKey: keyed.key, completed: done.id, paused: paused?.id ?? null, middle }
}
