import { processWide } from '@/db/process-wide'
import { readS3Url } from '@/lib/s3-url'
import { type Env, EnvError, env } from '../env'
import { AppError } from '../errors'
import { type FileStoreKind, fileStoreKind } from '../host/installation'
import { log } from '../log'
import type { FileStorage } from './file-storage'
import { localStorage } from './local-storage'
import { s3Storage } from './s3-storage'
import { vercelBlobStorage } from './vercel-blob-storage'

/**
 * This process's storage.
 * @throws AppError UNAVAILABLE
 */
export function fileStorage(): FileStorage {
  const settings = env()
  const kind = fileStoreKind(settings)
  if (kind === null) {
    log().error({}, 'FILES_S3_URL or BLOB_READ_WRITE_TOKEN is required for files on Vercel: its disk keeps nothing')
    throw new AppError('UNAVAILABLE', { details: [{ message: 'File storage is not configured.' }] })
  }
  return processWide('files', () => storageIn(settings, kind))
}

/**
 * The storage of a kind, whether or not it is this process's own.
 * @throws EnvError if its setting is missing
 */
export function storageIn({ FILES_S3_URL, BLOB_READ_WRITE_TOKEN, dataDir }: Env, kind: FileStoreKind): FileStorage {
  if (kind === 'folder') return localStorage(dataDir)
  if (kind === 'blob') return vercelBlobStorage(BLOB_READ_WRITE_TOKEN ?? missing('BLOB_READ_WRITE_TOKEN'))
  return s3Storage(readS3Url(FILES_S3_URL ?? '') ?? missing('FILES_S3_URL'))
}

function missing(name: string): never {
  throw new EnvError(`${name} is missing: set it for this command too.`)
}
