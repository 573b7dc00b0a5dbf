import { sql } from 'drizzle-orm'
import { readsDatabase } from '../database'
import { log } from '../log'
import { cachedFor } from './cached-for'

/** How long a reading is cached. */
const FRESH_MS = 10_000
/** A worker that has not reported for this long does not count. */
const HEARD_S = 20

/** The figures that the processes on a database share. */
export interface Shared {
  open: { status: string; runs: number }[]
  queued: number
  queuedS: number
  outbox: number
  outboxS: number
  messages: number
  messagesS: number
  workers: number
  sweeps: { sweep: string; ageS: number }[]
  connections: { application: string; state: string; connections: number }[]
}

/** The figures of all processes together; null if the database does not respond. */
export function readShared(): Promise<Shared | null> {
  return cachedFor('metrics-database', FRESH_MS, () =>
    read().catch((err: unknown) => {
      log().warn({ err }, 'the metrics of the database could not be read')
      return null
    }),
  )
}

const age = (moment: string) => sql.raw(`coalesce(extract(epoch from clock_timestamp() - min(${moment})), 0)::float8`)

async function read(): Promise<Shared> {
  // By workspace and status, the leading columns of the index of open runs.
  const [row] = await readsDatabase().db.execute<{ figures: Shared }>(sql`
    select json_build_object(
      'open', (
        select json_agg(o) from (
          select s.status, sum((
            select count(*) from runs r where r.tenant_id = t.id and r.status = s.status and r.outcome is null))::int as runs
          from unnest(array['running', 'paused']) s(status) left join tenants t on true group by 1) o),
      'queued', q.jobs, 'queuedS', q.age, 'outbox', x.events, 'outboxS', x.age, 'messages', m.messages, 'messagesS', m.age,
      'workers', (
        select count(*) from engine.workers where last_seen > clock_timestamp() - make_interval(secs => ${HEARD_S})),
      'sweeps', (
        select coalesce(json_agg(json_build_object(
          'sweep', name, 'ageS', greatest(0, extract(epoch from clock_timestamp() - succeeded_at)::float8)) order by name), '[]'::json)
        from sweeps),
      'connections', (
        select coalesce(json_agg(c), '[]'::json) from (
          select application_name as application, coalesce(state, 'unknown') as state, count(*)::int as connections
          from pg_stat_activity where datname = current_database() and application_name in ('millrace', 'millrace-reads')
          group by 1, 2) c)) as figures
    from
      (select count(*) as jobs, ${age('due_at')} as age from engine.jobs where owner is null and due_at <= now()) q,
      (select count(*) as events, ${age('created_at')} as age from outbox) x,
      (select count(*) as messages, ${age('due_at')} as age from webhook_deliveries
       where status = 'pending' and due_at <= now()) m`)
  if (!row) throw new Error('no figures')
  return row.figures
}
