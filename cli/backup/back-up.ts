import { randomBytes } from 'node:crypto'
import { createWriteStream, linkSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import { isUnavailable } from '@/db/deadline'
import { isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import { socketUrl } from '@/db/url'
import type { Env } from '@/server/env'
import { syncPath } from '@/server/files/sync-path'
import { baseBackup, majorOf } from './base-backup'
import {
  codeOf,
  interruptible,
  KEY_FILE,
  LOOSE_FILES,
  MANIFEST,
  type Manifest,
  typedPath,
  whereIsKey,
} from './contents'
import { holds, packed, readFolder, readOne } from './read-folder'
import { type Packed, pack } from './tar'

/**
 * Writes everything a service has on this machine into one file, while the service runs: the database, the uploads and
 * the keys. The file appears once it is complete. It contains secrets in clear text, so only its owner may read it.
 * @throws Error with a sentence for the person
 */
export async function backUp(env: Env, options: { to: string }) {
  if (env.DATABASE_URL) {
    throw new Error(
      "This backs up the embedded database, and the service uses the one at DATABASE_URL. Use your provider's backups or pg_dump.",
    )
  }
  const { dataDir } = env
  const adminUrl = findServer(dataDir)
  const to = typedPath(options.to)
  const draft = `${to}.part-${randomBytes(4).toString('hex')}`
  const manifest: Manifest = {
    format: 1,
    madeAt: new Date().toISOString(),
    postgres: majorOf(join(dataDir, 'postgres')),
    holdsKey: env.ENCRYPTION_KEY === undefined && holds(dataDir, KEY_FILE),
  }
  refuseExisting(to)
  try {
    await interruptible(async (signal) => {
      const file = createWriteStream(draft, { flags: 'wx', mode: 0o600 })
      const archive = Readable.from(pack(contents(dataDir, adminUrl, manifest)))
      await pipeline(archive, createGzip({ level: 3 }), file, { signal })
    })
    await syncPath(draft)
    publish(draft, to)
  } catch (error) {
    throw explained(error, to, draft)
  } finally {
    rmSync(draft, { force: true })
  }
  await syncPath(dirname(to))
  const { size: bytes } = statSync(to)
  return { file: to, bytes, madeAt: manifest.madeAt, encryptionKey: whereIsKey(manifest) }
}

async function* contents(dataDir: string, adminUrl: string, manifest: Manifest): AsyncGenerator<Packed> {
  yield packed(MANIFEST, JSON.stringify(manifest))
  const seen = new Set<string>()
  // A finished upload has no suffix and never changes.
  const uploads = () => readFolder(dataDir, 'files', (name) => name.endsWith('.part') || seen.has(name))
  yield* baseBackup(dataDir, adminUrl, async function* () {
    for (const name of LOOSE_FILES) yield* readOne(dataDir, name)
    for await (const upload of uploads()) {
      if (upload.file) seen.add(upload.name)
      yield upload
    }
  })
  // Once before the database's last state and once after it, so that every file its rows name is included.
  yield* uploads()
}

/** Renames the finished file. Unlike a rename, a link never replaces a file; some file systems have none. */
function publish(draft: string, to: string): void {
  try {
    linkSync(draft, to)
  } catch (error) {
    if (codeOf(error) === 'EEXIST') throw error
    refuseExisting(to)
    renameSync(draft, to)
  }
}

/** @returns the superuser's URL of the running embedded server */
function findServer(dataDir: string): string {
  const home = join(dataDir, 'postgres')
  const found = readPidFile(home)
  if (!found || !isPostmaster(found.pid, home)) {
    throw new Error(`No service runs on ${dataDir} (DATA_DIR). Start it, or copy the folder while it is stopped.`)
  }
  if (!found.socketDir) {
    throw new Error(`On this system, stop the service and copy ${dataDir} instead.`)
  }
  return socketUrl('postgres', 'postgres', found.socketDir)
}

function refuseExisting(to: string): void {
  if (statSync(to, { throwIfNoEntry: false })) throw new Error(`${to} exists already. Give another name.`)
}

function explained(error: unknown, to: string, draft: string): unknown {
  const { path } = error as NodeJS.ErrnoException
  // 55000: the driver has connected again, so the session of the backup has ended.
  if (isUnavailable(error) || codeOf(error) === '55000')
    return new Error('The database stopped during the backup, so no backup was made.')
  switch (codeOf(error)) {
    case 'EEXIST':
      return new Error(`${to} exists already. Give another name.`)
    case 'ENOENT':
    case 'ENOTDIR':
      return path === draft ? new Error(`There is no folder ${dirname(to)}.`) : error
    case 'EACCES':
    case 'EPERM':
      return new Error(`${path ?? to} may not be accessed. Run this as the user who runs the service.`)
    case 'ENOSPC':
      return new Error(`There is not enough disk space for the backup in ${dirname(to)}.`)
    default:
      return error
  }
}
