import { type SQL, sql } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import { threads } from '@/db/schema/threads'
import type { TransactionContext } from '../context'

/**
 * Deletes threads, after which nobody can read their files.
 * @param ids a query or a list of them
 * @returns how many, and the files, whose bytes are still to be removed
 */
export async function deleteThreadsOf(tx: TransactionContext, ids: SQL): Promise<{ threads: number; files: string[] }> {
  const now = tx.now().toISOString()
  const [gone] = await tx.db.execute<{ threads: number; files: string[] | null }>(sql`
    with gone as (delete from ${threads} where tenant_id = ${tx.tenantId} and id in ${ids} returning id),
    condemned as (
      update ${files} set condemned_at = ${now}::timestamptz
      where tenant_id = ${tx.tenantId} and thread_id in (select id from gone) and condemned_at is null returning id)
    select (select count(*)::int from gone) as threads, (select json_agg(id) from condemned) as files`)
  return { threads: gone?.threads ?? 0, files: gone?.files ?? [] }
}
