import type { Definition } from '@/server/workflows/schema'
import type { Layout } from '../model/definition'

/** What an editor had not saved yet, kept on this device. */
export interface CrashCopy {
  tenantId: string
  workflowId: string
  /** The saved version that the changes began with. */
  baseVersion: number
  base: Definition
  definition: Definition
  layout: Layout
  /** Milliseconds. */
  savedAt: number
}

const STORE = 'copies'

/** The newest copy of a workflow, or null; also where the browser keeps nothing (private windows). */
export async function readCrashCopy(tenantId: string, workflowId: string): Promise<CrashCopy | null> {
  const copies = await inStore('readonly', (store) =>
    store.getAll(IDBKeyRange.bound([tenantId, workflowId], [tenantId, workflowId, []])),
  )
  return newest((copies ?? []) as CrashCopy[])
}

/** @returns false when this device cannot keep it */
export async function writeCrashCopy(copy: CrashCopy): Promise<boolean> {
  return (await inStore('readwrite', (store) => store.put(copy))) !== null
}

/** To be called when a save was confirmed, never when it failed. Copies of later versions stay. */
export async function removeCrashCopy(tenantId: string, workflowId: string, upToVersion: number): Promise<void> {
  await inStore('readwrite', (store) =>
    store.delete(IDBKeyRange.bound([tenantId, workflowId], [tenantId, workflowId, upToVersion])),
  )
}

export function newest(copies: CrashCopy[]): CrashCopy | null {
  return copies.reduce<CrashCopy | null>((best, copy) => (best && best.savedAt >= copy.savedAt ? best : copy), null)
}

/** Null where there is no IndexedDB or it refuses; the editor works without. */
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
