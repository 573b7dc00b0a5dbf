import { type SQL, sql } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import type { ServiceContext } from '../context'

/**
 * Gives uploads to a thread, as a part of the statement that writes their message. One that something else has taken in
 * the meantime stays there: the message only names it. A worker of an earlier release, which knows no files of threads,
 * never takes one that was claimed so late for that of a run that is gone.
 * @param ids a query of them
 */
export function takeForThread({ tenantId }: ServiceContext, threadId: string, ids: SQL): SQL {
  return sql`update ${files} f set thread_id = ${threadId}, claimed_at = 'infinity',
        uploaded_by = split_part(f.uploaded_by, ' ', 1)
      where f.tenant_id = ${tenantId} and f.id in (${ids}) and f.uploaded_by is not null and f.claimed_at is null
        and f.condemned_at is null`
}
