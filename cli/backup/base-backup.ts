import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDriver } from '@/db/url'
import { packed, readFolder, readOne, readSteady } from './read-folder'
import type { Packed } from './tar'

// As in Postgres's own base backups: files that a server recreates when it starts.
const EMPTIED = /^postgres\/(pg_dynshmem|pg_notify|pg_replslot|pg_serial|pg_snapshots|pg_stat_tmp|pg_subtrans)\/./
const LEFT_OUT =
  /(^|\/)(pgsql_tmp[^/]*|pg_internal\.init[^/]*|postmaster\.(pid|opts)|\.s\.PGSQL\.[^/]*|backup_label|tablespace_map|postgresql\.auto\.conf\.tmp)$/
/** Read last, so that it is no older than the files it describes. */
const CONTROL = 'postgres/global/pg_control'
const LOG = 'postgres/pg_wal'

interface Session {
  start: string
  stop: string
  label: string
  timeline: number
  segment: bigint
}

/**
 * The cluster in `<dataDir>/postgres` while its server runs, by the steps of Postgres's manual for a base backup:
 * announce it, copy the files as they change, end it, and add the log written meanwhile, from which the next start
 * completes the copy.
 * @param middle reads more files before the backup ends
 */
export async function* baseBackup(
  dataDir: string,
  adminUrl: string,
  middle: () => AsyncIterable<Packed>,
): AsyncGenerator<Packed> {
  // The backup belongs to the session: one connection, which the driver must not replace.
  const sql = openDriver(adminUrl, {
    max: 1,
    max_lifetime: null,
    connect_timeout: 5,
    fetch_types: false,
    connection: { application_name: 'millrace-backup' },
  })
  try {
    // The slot prevents the log from being recycled. It ends with the session, however this process ends.
    await sql`select pg_create_physical_replication_slot(${`millrace_backup_${process.pid}`}, true, true)`
    const [begun] = await sql<{ start: string }[]>`
      select pg_backup_start('millrace', fast => true)::text as start`
    yield* readFolder(dataDir, 'postgres', (name) => {
      return name === CONTROL || name.startsWith(`${LOG}/`) || EMPTIED.test(name) || LEFT_OUT.test(name)
    })
    yield readSteady(dataDir, CONTROL)
    yield* middle()
    const [ended] = await sql<(Omit<Session, 'start' | 'segment'> & { segment: string })[]>`
      select stopped.lsn::text as stop, stopped.labelfile as label,
        (select timeline_id from pg_control_checkpoint()) as timeline,
        (select setting from pg_settings where name = 'wal_segment_size') as segment
      from pg_backup_stop(wait_for_archive => false) stopped`
    if (!begun || !ended) throw new Error('Postgres did not say what belongs to the backup')
    yield packed('postgres/backup_label', ended.label)
    for (const folder of ['archive_status', 'summaries']) yield { name: `${LOG}/${folder}` }
    for (const name of segments({ ...begun, ...ended, segment: BigInt(ended.segment) })) {
      let isThere = false
      for await (const entry of readOne(dataDir, `${LOG}/${name}`)) {
        isThere = true
        yield entry
      }
      if (!isThere) throw new Error(`The log file ${name}, which belongs to the backup, is gone`)
    }
  } finally {
    await sql.end({ timeout: 5 })
  }
}

/** The major version of the cluster. */
export function majorOf(postgresDir: string): string {
  return readFileSync(join(postgresDir, 'PG_VERSION'), 'utf8').trim()
}

/** The names of the log files from the first position to the last. */
function segments({ start, stop, timeline, segment }: Session): string[] {
  const perName = 0x1_0000_0000n / segment
  const names = []
  for (let n = position(start) / segment; n <= (position(stop) - 1n) / segment; n++) {
    names.push([BigInt(timeline), n / perName, n % perName].map(hex).join(''))
  }
  return names
}

/** A position in the log, such as `1/6D0A3B8`. */
function position(text: string): bigint {
  const [high = '', low = ''] = text.split('/')
  return (BigInt(`0x${high}`) << 32n) + BigInt(`0x${low}`)
}

function hex(number: bigint): string {
  return number.toString(16).toUpperCase().padStart(8, '0')
}
