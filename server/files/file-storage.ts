/** Where the bytes of files lie, found by tenant and id alone. */
export interface FileStorage {
  /** Returns when the bytes are safe; until then nothing is to be seen under the id. */
  put(tenantId: string, fileId: string, bytes: Uint8Array): Promise<void>
  /** Null when nothing is stored under the id. */
  get(tenantId: string, fileId: string): Promise<Buffer | null>
  /** Also removes what a `put` left that never ended; fine when there is nothing. */
  delete(tenantId: string, fileId: string): Promise<void>
}
