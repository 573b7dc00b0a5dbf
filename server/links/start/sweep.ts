import { sql } from 'drizzle-orm'
import type { Sweep } from '../../context'

/** The page of a link that has ended still confirms a form that is sent again. */
const KEPT_MS = 24 * 60 * 60_000
/** How many forms are deleted at a time, and how long one sweep may take. The next one continues. */
const BATCH = 2_000
const BUDGET_MS = 5_000

/** Deletes the forms of start links that have expired or were revoked. The links keep the number of their runs. */
export async function sweepStartForms({ db, now }: Sweep): Promise<{ deleted: number }> {
  const begun = performance.now()
  const at = now()
  const before = new Date(at.getTime() - KEPT_MS).toISOString()
  let deleted = 0
  while (performance.now() - begun < BUDGET_MS) {
    const [batch] = await db.execute<{ forms: number }>(sql`
      with ended as (
        select tenant_id, id from start_links
        where forms_deleted_at is null and least(expires_at, revoked_at) < ${before}::timestamptz
        order by least(expires_at, revoked_at) limit 1 for update skip locked),
      found as (
        select f.tenant_id, f.link_id, f.form_id from ended
        join start_link_forms f on f.tenant_id = ended.tenant_id and f.link_id = ended.id limit ${BATCH}),
      gone as (
        delete from start_link_forms where (tenant_id, link_id, form_id) in (select * from found) returning 1),
      -- What another sweep has deleted meanwhile is found, but not deleted again.
      counted as (select (select count(*)::int from gone) as forms, (select count(*) from found) < ${BATCH} as last)
      update start_links l set
        deleted_forms = l.deleted_forms + counted.forms,
        forms_deleted_at = case when counted.last then ${at.toISOString()}::timestamptz end
      from ended, counted where l.tenant_id = ended.tenant_id and l.id = ended.id
      returning counted.forms`)
    if (!batch) break
    deleted += batch.forms
  }
  return { deleted }
}
