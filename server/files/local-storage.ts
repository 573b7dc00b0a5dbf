import { createReadStream } from 'node:fs'
import { type FileHandle, mkdir, open, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
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
        const handle = await openOnce(path)
        if (!handle) return 'taken'
        try {
          const written = await closing(handle, () => writeAll(handle, chunks, size))
          if (written !== size) return 'other size'
          await rename(unfinished(path), path)
          return 'stored'
        } finally {
          // After a failure the bytes may be sent again.
          await rm(unfinished(path), { force: true })
        }
      })
    },
    async get(tenantId, fileId) {
      return readFile(pathOf(tenantId, fileId)).catch(nullIf('ENOENT'))
    },
    async read(tenantId, fileId) {
      const path = pathOf(tenantId, fileId)
      return (await stat(path).catch(nullIf('ENOENT'))) && chunksAt(path)
    },
    async delete(tenantId, fileId) {
      const path = pathOf(tenantId, fileId)
      await rm(path, { force: true })
      await rm(unfinished(path), { force: true })
    },
  }
}

/** Opens the unfinished file for its only writer. Null if there is one, or if the file is there already. */
async function openOnce(path: string): Promise<FileHandle | null> {
  const handle = await open(unfinished(path), 'wx', 0o600).catch(nullIf('EEXIST'))
  if (!handle) return null
  let isThere = true
  try {
    // Looked for only now: of a writer that finishes in between, the bytes would be replaced.
    isThere = (await stat(path).catch(nullIf('ENOENT'))) !== null
  } finally {
    if (isThere) {
      await handle.close()
      await rm(unfinished(path), { force: true })
    }
  }
  return isThere ? null : handle
}

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
