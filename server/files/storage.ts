import { env } from '../env'
import { AppError } from '../errors'
import { log } from '../log'
import { processWide } from '../process'
import type { FileStorage } from './file-storage'
import { localStorage } from './local-storage'
import { vercelBlobStorage } from './vercel-blob-storage'

/**
 * This process's storage: Vercel Blob if configured, otherwise a folder.
 * @throws AppError UNAVAILABLE
 */
export function fileStorage(): FileStorage {
  const { BLOB_READ_WRITE_TOKEN, VERCEL, dataDir } = env()
  if (VERCEL && !BLOB_READ_WRITE_TOKEN) {
    log().error({}, 'BLOB_READ_WRITE_TOKEN is required for files on Vercel: its disk keeps nothing')
    throw new AppError('UNAVAILABLE', { details: [{ message: 'File storage is not configured.' }] })
  }
  return processWide('files', () =>
    BLOB_READ_WRITE_TOKEN ? vercelBlobStorage(BLOB_READ_WRITE_TOKEN) : localStorage(dataDir),
  )
}
