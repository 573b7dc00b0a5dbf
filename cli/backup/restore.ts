import { createReadStream, existsSync, mkdirSync, rmdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createGunzip } from 'node:zlib'
import { type Account, accountFor } from '@/db/postgres/account'
import { findBinaries } from '@/db/postgres/binaries'
import { majorVersion } from '@/db/postgres/cluster'
import { isPostmaster, readPidFile } from '@/db/postgres/postmaster'
import type { Env } from '@/server/env'
import { claimDataDir } from '../data-dir'
import { codeOf, interruptible, MANIFEST, Manifest, typedPath, whereIsKey } from './contents'
import { DRAFT, isSwapping, replaceable, swapIn } from './swap'
import { TarError, type Unpacked, unpack } from './tar'
import { writeEntry } from './write-entry'

/**
 * Restores a backup into the data folder. Everything is first unpacked beside the folder's contents, so an unusable
 * backup changes nothing.
 * @throws Error with a sentence for the person; CannotStart while a service runs on the folder
 */
export async function restore(env: Env, options: { from: string; force: boolean }) {
  if (env.DATABASE_URL) {
    throw new Error(
      'This restores the embedded database. Unset DATABASE_URL, or restore that database with its own tools.',
    )
  }
  const { dataDir } = env
  const from = typedPath(options.from)
  if (!existsSync(from)) throw new Error(`There is no file ${from}.`)
  const isNew = !existsSync(dataDir)
  const { release } = await claimDataDir(dataDir)
  const draft = join(dataDir, DRAFT)
  try {
    refuseRunning(dataDir)
    const old = replaceable(dataDir)
    if (old.length > 0 && !options.force) {
      throw new Error(
        `${dataDir} already holds a service (${old.join(', ')}). Set another DATA_DIR, or add --force: its present contents are then kept in a folder inside it.`,
      )
    }
    rmSync(draft, { recursive: true, force: true })
    mkdirSync(draft, { mode: 0o700 })
    const manifest = await interruptible((signal) =>
      unpackTo(draft, from, accountFor(join(dataDir, 'postgres')), signal),
    )
    const kept = old.length === 0 ? null : `replaced-${new Date().toISOString().replaceAll(':', '-')}`
    swapIn(dataDir, kept)
    return {
      dataDir,
      madeAt: manifest.madeAt,
      replaced: kept && join(dataDir, kept),
      encryptionKey: whereIsKey(manifest),
    }
  } finally {
    if (!isSwapping(dataDir)) rmSync(draft, { recursive: true, force: true })
    release()
    if (isNew) removeIfEmpty(dataDir)
  }
}

/** A launcher that was killed leaves its server running. */
function refuseRunning(dataDir: string): void {
  const home = join(dataDir, 'postgres')
  const found = readPidFile(home)
  if (found && isPostmaster(found.pid, home)) {
    throw new Error(
      `Postgres still runs on ${home} (process ${found.pid}). Start the service and stop it, then try again.`,
    )
  }
}

async function unpackTo(draft: string, from: string, account: Account, signal: AbortSignal): Promise<Manifest> {
  let manifest: Manifest | undefined
  try {
    for await (const entry of unpack(opened(from))) {
      signal.throwIfAborted()
      if (!manifest) {
        manifest = await readManifest(entry, from)
        await checkVersion(manifest, from)
      } else await writeEntry(draft, entry, account)
    }
  } catch (error) {
    throw explained(error, from, manifest !== undefined)
  }
  if (!manifest || !existsSync(join(draft, 'postgres/backup_label'))) throw notABackup(from)
  return manifest
}

/** The unpacked bytes; an error of either stream ends them. */
function opened(from: string): AsyncIterable<Buffer> {
  const file = createReadStream(from)
  const bytes = createGunzip()
  file.on('error', (error) => bytes.destroy(error))
  return file.pipe(bytes)
}

async function readManifest({ name, file }: Unpacked, from: string): Promise<Manifest> {
  if (name !== MANIFEST || !file || file.size > 10_000) throw notABackup(from)
  const parts: Buffer[] = []
  for await (const part of file.content) parts.push(part)
  const parsed = Manifest.safeParse(JSON.parse(Buffer.concat(parts).toString()))
  if (!parsed.success) throw new Error(`${from} was made by a version of Millrace that this one cannot read.`)
  return parsed.data
}

async function checkVersion({ postgres }: Manifest, from: string): Promise<void> {
  const own = await majorVersion(await findBinaries(undefined))
  if (own === postgres) return
  throw new Error(
    `${from} holds a database of Postgres ${postgres}, and this is Postgres ${own}. Restore it with the version of Millrace that made it.`,
  )
}

function explained(error: unknown, from: string, begun: boolean): unknown {
  const code = codeOf(error)
  if (code === 'ENOSPC') return new Error('There is not enough disk space to unpack the backup. Nothing was changed.')
  if (code === 'EACCES' && (error as NodeJS.ErrnoException).path === from) return new Error(`${from} may not be read.`)
  if (code === 'Z_BUF_ERROR' || (error instanceof TarError && error.isCutShort)) {
    return begun ? new Error(`${from} is cut short: its end is missing. Nothing was changed.`) : notABackup(from)
  }
  if (code?.startsWith('Z_') || error instanceof TarError || error instanceof SyntaxError || code === 'EISDIR') {
    return begun ? new Error(`${from} is damaged. Nothing was changed.`) : notABackup(from)
  }
  return error
}

function notABackup(from: string): Error {
  return new Error(`${from} is not a backup made by this command.`)
}

function removeIfEmpty(folder: string): void {
  try {
    rmdirSync(folder)
  } catch {
    // it holds the restored files
  }
}
