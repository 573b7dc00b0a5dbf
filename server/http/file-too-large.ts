import { AppError } from '../errors'
import { FILE_PART, MAX_FILE_BYTES } from './multipart-input'

/** @param several the files that are too large together, rather than one */
export function fileTooLarge({
  part = FILE_PART,
  several = false,
}: {
  part?: string | undefined
  several?: boolean
} = {}): AppError {
  const message = several
    ? `The files may have at most ${MAX_FILE_BYTES} bytes together.`
    : `The file may have at most ${MAX_FILE_BYTES} bytes.`
  return new AppError('FILE_TOO_LARGE', { details: [{ path: part, message }] })
}
