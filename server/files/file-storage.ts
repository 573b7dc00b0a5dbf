/** The rights to store one file in a Vercel Blob store, with that store's SDK. */
export interface UploadGrant {
  pathname: string
  token: string
}

/** `taken`: bytes are there already, or are on their way. */
export type Received = 'stored' | 'other size' | 'taken'

/** Stores the bytes of files under tenant and id. */
export interface FileStorage {
  /** Resolves once the bytes are durable; until then nothing is visible under the id. */
  put(tenantId: string, fileId: string, bytes: Uint8Array): Promise<void>
  /** Null if nothing is stored under the id. */
  get(tenantId: string, fileId: string): Promise<Buffer | null>
  /** The same piece by piece, for files too large to be held. Fails if the storage stalls. */
  read(tenantId: string, fileId: string): Promise<ReadableStream<Uint8Array> | null>
  /** Also removes the remains of an unfinished `put`. Does nothing if nothing is stored. */
  delete(tenantId: string, fileId: string): Promise<void>
  /** Like `put`, once, for bytes that are written as they arrive. Only of storages that this process writes to. */
  receive?(tenantId: string, fileId: string, chunks: AsyncIterable<Uint8Array>, size: number): Promise<Received>
  /** Lets the sender store the bytes, once. Only of storages that people can reach. */
  grant?(tenantId: string, fileId: string, limits: { size: number; type: string; until: Date }): Promise<UploadGrant>
}
