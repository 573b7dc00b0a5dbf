import type { CopyDatabase, CopyRow } from './device-copies'

const STORE = 'copies'

/** Copies of drafts in IndexedDB. Where there is none (private windows) nothing is kept, and the editor still works. */
export const copyDatabase: CopyDatabase = {
  async list(tenantId, workflowId) {
    const range = () => IDBKeyRange.bound([tenantId, workflowId], [tenantId, workflowId, []])
    return ((await inStore('readonly', (store) => store.getAll(range()))) ?? []) as CopyRow[]
  },
  async put(row) {
    return (await inStore('readwrite', (store) => store.put(row))) !== null
  },
  async removeUpTo(tenantId, workflowId, version) {
    await inStore('readwrite', (store) =>
      store.delete(IDBKeyRange.bound([tenantId, workflowId], [tenantId, workflowId, version])),
    )
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
  const request = indexedDB.open('millrace-editor', 1)
  request.onupgradeneeded = () =>
    request.result.createObjectStore(STORE, { keyPath: ['tenantId', 'workflowId', 'baseVersion'] })
  return result(request)
}

function result<T>(request: IDBRequest<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    request.onsuccess = () => resolve(request.result)
    request.onerror = () => reject(request.error ?? new Error('IndexedDB failed.'))
  })
}
