import { mkdir, open, readFile, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileStorage } from './file-storage'
import { storageKey } from './storage-key'
import { syncPath } from './sync-path'

/** Files under `<dataDir>/files/<tenant>/<uuid>`. */
export function localStorage(dataDir: string): FileStorage {
  const root = join(dataDir, 'files')
  const pathOf = (tenantId: string, fileId: string) => join(root, storageKey(tenantId, fileId))
  return {
    async put(tenantId, fileId, bytes) {
      const path = pathOf(tenantId, fileId)
      const folder = dirname(path)
      const made = await mkdir(folder, { recursive: true, mode: 0o700 })
      // Each id is written once, by one start, so naming the unfinished file is enough.
      const handle = await open(unfinished(path), 'w', 0o600)
      try {
        await handle.writeFile(bytes)
        await handle.sync()
      } finally {
        await handle.close()
      }
      await rename(unfinished(path), path)
      // A rename is durable only after its folder is synced.
      await syncPath(folder)
      if (made !== undefined) await syncPath(root)
    },
    async get(tenantId, fileId) {
      try {
        return await readFile(pathOf(tenantId, fileId))
      } catch (err) {
        if ((err as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw err
      }
    },
    async delete(tenantId, fileId) {
      const path = pathOf(tenantId, fileId)
      await rm(path, { force: true })
      await rm(unfinished(path), { force: true })
    },
  }
}

function unfinished(path: string): string {
  return `${path}.part`
}
