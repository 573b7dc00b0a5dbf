/** Stores the bytes of files under tenant and id. */
export interface FileStorage {
  /** Resolves once the bytes are durable; until then nothing is visible under the id. */
  put(tenantId: string, fileId: string, bytes: Uint8Array): Promise<void>
  /** Null when nothing is stored under the id. */
  get(tenantId: string, fileId: string): Promise<Buffer | null>
  /** Also removes what an unfinished `put` left behind. Does nothing when there is nothing stored. */
  delete(tenantId: string, fileId: string): Promise<void>
}
