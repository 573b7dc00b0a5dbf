import { createReadStream } from 'node:fs'
import { type FileHandle, link, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { streamOf } from '../http/sent-request'
import type { FileStorage } from './file-storage'
import { storageKey } from './storage-key'
import { syncPath } from './sync-path'

/** Files under `<dataDir>/files/<tenant>/<uuid>`. */
export function localStorage(dataDir: string): FileStorage {
  const root = join(dataDir, 'files')
  const pathOf = (tenantId: string, fileId: string) => join(root, storageKey(tenantId, fileId))
  /** Makes the folder of a file, and what happens in it durable: a rename is so only after its folder is synced. */
  const inFolder = async <T>(path: string, work: () => Promise<T>): Promise<T> => {
    const folder = dirname(path)
    const made = await mkdir(folder, { recursive: true, mode: 0o700 })
    const done = await work()
    await syncPath(folder)
    if (made !== undefined) await syncPath(root)
    return done
  }
  return {
    async put(tenantId, fileId, bytes) {
      const path = pathOf(tenantId, fileId)
      await inFolder(path, async () => {
        // Each id is written once, by one start, so naming the unfinished file is enough.
        const handle = await open(unfinished(path), 'w', 0o600)
        await closing(handle, async () => {
          await handle.writeFile(bytes)
          await handle.sync()
        })
        await rename(unfinished(path), path)
      })
    },
    async receive(tenantId, fileId, chunks, size) {
      const path = pathOf(tenantId, fileId)
      return inFolder(path, async () => {
        const part = await openPart(path)
        if (!part) return 'taken'
        const { handle } = part
        try {
          const written = await closing(handle, () => writeAll(handle, chunks, size))
          if (written !== size) return 'other size'
          return (await placeOnce(part.path, path)) ? 'stored' : 'taken'
        } finally {
          // After a failure the bytes may be sent again.
          await rm(part.path, { force: true })
        }
      })
    },
    async get(tenantId, fileId) {
      return readFile(pathOf(tenantId, fileId)).catch(nullIf('ENOENT'))
    },
    async read(tenantId, fileId) {
      const path = pathOf(tenantId, fileId)
      return (await stat(path).catch(nullIf('ENOENT'))) && streamOf(chunksAt(path))
    },
    async delete(tenantId, fileId) {
      const path = pathOf(tenantId, fileId)
      await rm(path, { force: true })
      for (const part of parts(path)) await rm(part, { force: true })
    },
  }
}

/**
 * Opens an unfinished file that nobody else writes. Null if the file is there already, or if too many are unfinished: a
 * crash leaves one behind, and another process may be writing one.
 */
async function openPart(path: string): Promise<{ handle: FileHandle; path: string } | null> {
  if (await stat(path).catch(nullIf('ENOENT'))) return null
  for (const part of parts(path)) {
    const handle = await open(part, 'wx', 0o600).catch(nullIf('EEXIST'))
    if (handle) return { handle, path: part }
  }
  return null
}

/** Gives a finished file its name, unless another has it by now. @returns whether it has */
async function placeOnce(part: string, path: string): Promise<boolean> {
  try {
    // Unlike a rename, this never replaces a file.
    await link(part, path)
    return true
  } catch (err) {
    const code = (err as NodeJS.ErrnoException).code ?? ''
    if (code === 'EEXIST' || (await stat(path).catch(nullIf('ENOENT')))) return false
    if (!NO_LINKS.has(code)) throw err
    await rename(part, path)
    return true
  }
}

/** Of file systems without hard links, such as some network drives. */
const NO_LINKS = new Set(['EPERM', 'ENOSYS', 'ENOTSUP', 'EOPNOTSUPP'])

/** Opens the file only when it is read. */
async function* chunksAt(path: string): AsyncGenerator<Uint8Array> {
  yield* createReadStream(path)
}

/** @returns how many bytes arrived, up to the first beyond the size */
async function writeAll(handle: FileHandle, chunks: AsyncIterable<Uint8Array>, size: number): Promise<number> {
  let written = 0
  for await (const chunk of chunks) {
    written += chunk.byteLength
    if (written > size) break
    await handle.appendFile(chunk)
  }
  if (written === size) await handle.sync()
  return written
}

async function closing<T>(handle: FileHandle, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    await handle.close()
  }
}

/** For `catch`: null after an error of that code. */
function nullIf(code: string): (err: NodeJS.ErrnoException) => null {
  return (err) => {
    if (err.code === code) return null
    throw err
  }
}

function unfinished(path: string): string {
  return `${path}.part`
}

/** The names of unfinished files. */
function parts(path: string): string[] {
  return [unfinished(path), `${unfinished(path)}2`, `${unfinished(path)}3`]
}
