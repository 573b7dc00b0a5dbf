import type { CopyDatabase, CopyRow } from './copies'

const STORE = 'drafts'

/** Copies of drafts in IndexedDB. Without IndexedDB (private windows) nothing is stored, and the page still works. */
export const copyDatabase: CopyDatabase = {
  async list(draft) {
    const range = () => IDBKeyRange.bound([draft], [draft, []])
    return ((await inStore('readonly', (store) => store.getAll(range()))) ?? []) as CopyRow[]
  },
  async put(row) {
    return (await inStore('readwrite', (store) => store.put(row))) !== null
  },
  async remove({ draft, page }) {
    await inStore('readwrite', (store) => store.delete([draft, page]))
  },
}

async function inStore<T>(mode: IDBTransactionMode, work: (store: IDBObjectStore) => IDBRequest<T>): Promise<T | null> {
  try {
    const database = await open()
    try {
      return await result(work(database.transaction(STORE, mode).objectStore(STORE)))
    } finally {
      database.close()
    }
  } catch {
    return null
  }
}

function open(): Promise<IDBDatabase> {
  const request = indexedDB.open('millrace-editor', 2)
  request.onupgradeneeded = () => {
    const store = request.result.createObjectStore(STORE, { keyPath: ['draft', 'page'] })
    if (!request.result.objectStoreNames.contains('copies')) return
    // Written by an earlier release, for workflows only and one for each version.
    const copies = request.transaction?.objectStore('copies').getAll()
    copies?.addEventListener('success', () => {
      for (const row of copies.result as EarlierRow[]) store.put(fromEarlier(row))
    })
  }
  return result(request)
}

interface EarlierRow {
  tenantId: string
  workflowId: string
  baseVersion: number
  base: object
  definition: object
  layout: object
  savedAt: number
}

function fromEarlier({ tenantId, workflowId, baseVersion: version, layout, ...row }: EarlierRow): CopyRow {
  return {
    draft: `${tenantId}:${workflowId}`,
    page: `version-${version}`,
    base: { version, definition: row.base, layout },
    sent: [],
    value: { version, definition: row.definition, layout },
    at: new Date(row.savedAt).toISOString(),
  }
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed.'))
  })
}
