import type { Definition } from '@/server/definition/schema'
import type { Layout } from '../model/definition'

/** What an editor has not saved yet, kept on this device. */
export interface DeviceCopy {
  /** The saved version the changes are based on. */
  baseVersion: number
  base: Definition
  definition: Definition
  layout: Layout
  /** Milliseconds. */
  savedAt: number
}

/** The copies of one workflow on this device. */
export interface DeviceCopies {
  /** The newest copy, or null. */
  read(): Promise<DeviceCopy | null>
  /** @returns false when this device cannot keep it */
  write(copy: DeviceCopy): Promise<boolean>
  /** Like `write`, but done when it returns, for a page that is closing. */
  writeNow(copy: DeviceCopy): boolean
  /** Call it once the server has the changes, never after a failed save. Copies of later versions stay. */
  remove(upToVersion: number): Promise<void>
}

export interface CopyRow extends DeviceCopy {
  tenantId: string
  workflowId: string
}

/** Where copies are kept: large, but asynchronous. */
export interface CopyDatabase {
  list(tenantId: string, workflowId: string): Promise<CopyRow[]>
  put(row: CopyRow): Promise<boolean>
  removeUpTo(tenantId: string, workflowId: string, version: number): Promise<void>
}

/** Where a closing page writes: at once, but small and shared by all pages, like `localStorage`. */
export type SyncStorage = Pick<Storage, 'length' | 'key' | 'getItem' | 'setItem' | 'removeItem'>

const PREFIX = 'millrace-unsaved:'
/** Characters. Browsers give a site about five million for everything. */
export const MAX_SYNC_COPY = 2_000_000

/**
 * Copies are kept in the database. What a closing page writes to the storage moves there when the next editor opens.
 * Database calls run in the order they were made, so that a removal also removes what was written just before it.
 * @param options.storage null where the browser refuses it
 */
export function createDeviceCopies(options: {
  tenantId: string
  workflowId: string
  database: CopyDatabase
  storage(): SyncStorage | null
}): DeviceCopies {
  const { tenantId, workflowId, database, storage } = options
  let last: Promise<unknown> = Promise.resolve()
  function inOrder<T>(work: () => Promise<T>): Promise<T> {
    const next = last.then(work, work)
    last = next
    return next
  }
  const isOurs = (row: CopyRow) => row.tenantId === tenantId && row.workflowId === workflowId

  return {
    read: () =>
      inOrder(async () => {
        const waiting = waitingRows(storage())
        const rows = await database.list(tenantId, workflowId)
        for (const row of waiting) if (await moveOver(database, row)) forget(storage(), row)
        return newest([...waiting.filter(isOurs), ...rows])
      }),
    write: (copy) => inOrder(() => database.put({ ...copy, tenantId, workflowId })),
    writeNow(copy) {
      const row = { ...copy, tenantId, workflowId }
      const text = JSON.stringify(row)
      if (text.length > MAX_SYNC_COPY) return false
      try {
        const target = storage()
        target?.setItem(keyOf(row), text)
        return target !== null
      } catch {
        return false
      }
    },
    remove(upToVersion) {
      for (const row of waitingRows(storage()))
        if (isOurs(row) && row.baseVersion <= upToVersion) forget(storage(), row)
      return inOrder(() => database.removeUpTo(tenantId, workflowId, upToVersion))
    },
  }
}

/** The copy that was made last. */
export function newest<C extends DeviceCopy>(copies: readonly C[]): C | null {
  return copies.reduce<C | null>((best, copy) => (best && best.savedAt >= copy.savedAt ? best : copy), null)
}

/** @returns whether the database has this row, or a newer one, now */
async function moveOver(database: CopyDatabase, row: CopyRow): Promise<boolean> {
  const rows = await database.list(row.tenantId, row.workflowId)
  const known = rows.find(({ baseVersion }) => baseVersion === row.baseVersion)
  return known && known.savedAt > row.savedAt ? true : database.put(row)
}

function keyOf({ tenantId, workflowId, baseVersion }: CopyRow): string {
  return `${PREFIX}${JSON.stringify([tenantId, workflowId, baseVersion])}`
}

function waitingRows(storage: SyncStorage | null): CopyRow[] {
  if (!storage) return []
  const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? '')
  return keys.filter((key) => key.startsWith(PREFIX)).flatMap((key) => readRow(storage.getItem(key)) ?? [])
}

function readRow(text: string | null): CopyRow | null {
  try {
    const row = JSON.parse(text ?? '') as Partial<CopyRow> | null
    return row?.definition && row.base && typeof row.baseVersion === 'number' ? (row as CopyRow) : null
  } catch {
    return null
  }
}

function forget(storage: SyncStorage | null, row: CopyRow): void {
  storage?.removeItem(keyOf(row))
}
