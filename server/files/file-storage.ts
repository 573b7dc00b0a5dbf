/** Stores the bytes of files under tenant and id. */
export interface FileStorage {
  /** Resolves once the bytes are durable; until then nothing is visible under the id. */
  put(tenantId: string, fileId: string, bytes: Uint8Array): Promise<void>
  /** Null if nothing is stored under the id. */
  get(tenantId: string, fileId: string): Promise<Buffer | null>
  /** Also removes the remains of an unfinished `put`. Does nothing if nothing is stored. */
  delete(tenantId: string, fileId: string): Promise<void>
}
