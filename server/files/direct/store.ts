import { authorize } from '../../auth/policy'
import type { ServiceContext } from '../../context'
import { AppError, ImpossibleState } from '../../errors'
import { FILE_PART, type MultipartInput, type Upload } from '../../http/multipart-input'
import { newFileId, withBytes } from '../stage'
import { uploaderOf } from './find'

/** An upload that a message, or a run, of its caller may take. */
export type StoredUpload = { fileId: string; name: string; type: string; size: number }

/**
 * Stores a file that fits into a form, before the message or the run that takes it. It belongs to its caller alone until
 * then, and is removed after an hour otherwise.
 * @throws AppError FORBIDDEN; CONFLICT if the caller has too many; UNAVAILABLE
 */
export async function storeUpload(ctx: ServiceContext, upload: Upload): Promise<StoredUpload> {
  authorize(ctx, 'file:upload')
  const stored = await withBytes(ctx, [{ id: newFileId(), upload }], async ([row]) => row, uploaderOf(ctx))
  if (!stored) throw new ImpossibleState('store-upload', 'a stored file has no row')
  const { id: fileId, name, sniffedType: type, size } = stored
  return { fileId, name, type, size }
}

/**
 * The same, for the only file of a form. Its texts do not count.
 * @throws AppError INVALID_INPUT, and as `storeUpload`
 */
export async function storeForm(ctx: ServiceContext, { file, named }: MultipartInput): Promise<StoredUpload> {
  const [other] = named
  if (other) throw refused(other.part, `The file must be the part ${FILE_PART}.`)
  if (!file) throw refused(FILE_PART, 'is required')
  return storeUpload(ctx, file)
}

function refused(path: string, message: string): AppError {
  return new AppError('INVALID_INPUT', { details: [{ path: path.slice(0, 100), message }] })
}
