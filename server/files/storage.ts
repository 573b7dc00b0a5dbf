import { env } from '../env'
import { AppError } from '../errors'
import { log } from '../log'
import { localStorage } from './local-storage'
import { vercelBlobStorage } from './vercel-blob-storage'

/** Where the bytes of files lie, found by tenant and id alone. */
export interface FileStorage {
  /** Returns when the bytes are safe; until then nothing is to be seen under the id. */
  put(tenantId: string, fileId: string, bytes: Uint8Array): Promise<void>
  /** Null when nothing is stored under the id. */
  get(tenantId: string, fileId: string): Promise<Buffer | null>
  /** Also removes what a `put` left that never ended; fine when there is nothing. */
  delete(tenantId: string, fileId: string): Promise<void>
}

let current: FileStorage | undefined

/** This process's storage: Vercel Blob where it is configured, else a folder. @throws AppError UNAVAILABLE */
export function fileStorage(): FileStorage {
  const { BLOB_READ_WRITE_TOKEN, VERCEL, dataDir } = env()
  if (VERCEL && !BLOB_READ_WRITE_TOKEN) {
    log().error({}, 'BLOB_READ_WRITE_TOKEN is required for files on Vercel: nothing written to its disk stays')
    throw new AppError('UNAVAILABLE', { details: [{ message: 'File storage is not configured.' }] })
  }
  current ??= BLOB_READ_WRITE_TOKEN ? vercelBlobStorage(BLOB_READ_WRITE_TOKEN) : localStorage(dataDir)
  return current
}
