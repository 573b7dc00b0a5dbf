import { createHash, createHmac } from 'node:crypto'
import { join } from 'node:path'
import { type Db, type Sql, sqlState } from '@/db/index'
import { isMigrated, NotThisDatabase } from '@/db/migrate'
import { installation } from '@/db/schema/installation'
import { readS3Url } from '@/lib/s3-url'
import { secretFile } from '@/lib/secret-file'
import type { Keyring } from '../crypto'
import { type Env, EnvError } from '../env'
import { newId } from '../ids'
import { log } from '../log'

interface Row {
  deployment: string | null
  key_check: string | null
  file_store: string | null
  mails: boolean
}

/** A worker counts as running if it was seen this recently. */
const RUNNING_S = 20

/**
 * Checks that this process shares everything it must with the others on its database, and records it if it is the
 * first. Otherwise it would write data that the others cannot read.
 * @throws EnvError, NotThisDatabase
 */
export async function joinInstallation(sql: Sql, settings: Env, keys: Keyring): Promise<void> {
  const row = await requireUsable(sql, settings)
  const known = keys.map(fingerprint)
  const [newest = ''] = known
  const store = fileStore(settings) ?? row?.file_store ?? null
  const mails = settings.SMTP_URL !== undefined
  if (row?.key_check === newest && row.file_store === store && row.mails === mails) return
  await sql.begin(async (tx) => {
    await tx`insert into installation (id) values (true) on conflict do nothing`
    const [held] = await tx<Row[]>`select deployment, key_check, file_store, mails from installation for update`
    if (held?.key_check && !known.includes(held.key_check)) throw new EnvError(OTHER_KEY)
    if (held?.file_store && held.file_store !== store && (await matters(tx, held.file_store))) {
      throw new EnvError(otherStore(settings))
    }
    if (held?.mails && !mails)
      log().warn({}, 'SMTP_URL is not set here: from now on no process has mails about tasks written')
    await tx`update installation set key_check = ${newest}, file_store = ${store}, mails = ${mails}`
  })
}

/**
 * Checks that the database is as new as this version, and that a preview does not use production's. Changes nothing.
 * @throws EnvError, NotThisDatabase
 */
export async function requireUsable(sql: Sql, { deployment }: Pick<Env, 'deployment'>): Promise<Row | undefined> {
  const row = await read(sql)
  if (deployment === 'preview' && row?.deployment === 'production') throw new NotThisDatabase()
  return row
}

const OTHER_KEY =
  'ENCRYPTION_KEY is not the key that this database is used with. Give every process the same key; if that key is lost, run: npm run -s admin -- installation reset.'

/** The error of a process that stores files in another place than the others. */
export function otherStore(settings: Env): string {
  const here = {
    s3: 'the bucket of FILES_S3_URL',
    blob: 'the Blob store of BLOB_READ_WRITE_TOKEN',
    folder: join(settings.dataDir, 'files'),
  }
  return `The files of this service are stored elsewhere than in ${here[fileStoreKind(settings) ?? 'folder']}. Share one folder, one bucket or one Blob store between all processes. To move the files, run: npm run -s admin -- files move; if they have moved, run: npm run -s admin -- installation reset.`
}

async function read(sql: Sql): Promise<Row | undefined> {
  try {
    if (!(await isMigrated(sql))) throw new EnvError(NOT_MIGRATED)
    const [row] = await sql<Row[]>`select deployment, key_check, file_store, mails from installation`
    return row
  } catch (err) {
    throw sqlState(err) === '42P01' ? new EnvError(NOT_MIGRATED) : err
  }
}

const NOT_MIGRATED = 'The database is older than this version. Run: npm run db:migrate.'

/**
 * A folder without files may be replaced, as a container's is, unless another process is using it. A process whose runs
 * are on an Inngest server is not known here; its first upload detects it (`files/shared-store.ts`).
 */
async function matters(tx: Pick<Sql, 'unsafe'>, store: string): Promise<boolean> {
  const [row] = await tx.unsafe<{ matters: boolean }[]>(
    `select exists (select from files) or (
       $1::text like 'folder:%'
       and exists (select from engine.workers where last_seen > now() - $2::int * interval '1 second')) as matters`,
    [store, RUNNING_S],
  )
  return row?.matters ?? true
}

/** Distinguishes keys without revealing anything about them: keys are random. */
function fingerprint(key: Keyring[number]): string {
  return createHmac('sha256', key).update('millrace encryption key').digest('hex').slice(0, 32)
}

export const FILE_STORES = ['folder', 'blob', 's3'] as const
export type FileStoreKind = (typeof FILE_STORES)[number]

/** Where this process stores files; null if it cannot store any. */
export function fileStoreKind({ FILES_S3_URL, BLOB_READ_WRITE_TOKEN, VERCEL }: Env): FileStoreKind | null {
  if (FILES_S3_URL) return 's3'
  if (BLOB_READ_WRITE_TOKEN) return 'blob'
  return VERCEL ? null : 'folder'
}

/**
 * Names the store of a kind, by default the one of this process; null if it cannot store any files. A folder has its
 * name in a file, so that it is recognised under any path.
 */
export function fileStore(settings: Env, kind = fileStoreKind(settings)): string | null {
  switch (kind) {
    case 's3':
      return `s3:${shortened(readS3Url(settings.FILES_S3_URL ?? '')?.url ?? '')}`
    case 'blob':
      return `blob:${shortened(settings.BLOB_READ_WRITE_TOKEN?.split('_')[3] ?? '')}`
    case 'folder':
      return `folder:${secretFile(join(settings.dataDir, 'files', '.store'), () => newId('store')).trim()}`
    default:
      return null
  }
}

function shortened(name: string): string {
  return createHash('sha256').update(name).digest('hex').slice(0, 16)
}

/**
 * Clears the shared settings, so that the next process to start records them again.
 * @param options.copied the database is a copy, so it no longer is the production database that it claims to be
 */
export async function resetInstallation(db: Db, { copied = false } = {}): Promise<{ reset: true }> {
  await db.update(installation).set({ keyCheck: null, fileStore: null, ...(copied ? { deployment: null } : {}) })
  return { reset: true }
}
