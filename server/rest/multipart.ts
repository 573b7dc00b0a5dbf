import { AppError } from '../errors'
import { MAX_JSON_BYTES, readBytes } from '../http/body'
import { fileTooLarge } from '../http/file-too-large'
import { FILE_PART, MAX_FILE_BYTES, MultipartInput, type NamedUpload, type Upload } from '../http/multipart-input'
import { type Part, parseParts } from './multipart-parts'

const MAX_PARTS = 100
const MAX_FILES = 20
/** How much delimiters and part headers may add to the file and the texts. */
const MAX_ENVELOPE_BYTES = 128 * 1024
const MAX_BODY_BYTES = MAX_FILE_BYTES + MAX_JSON_BYTES + MAX_ENVELOPE_BYTES

/** Whether the request is a form. Only the parsed Content-Type decides. */
export function isMultipart(request: Request): boolean {
  return mediaType(request).type === 'multipart/form-data'
}

/**
 * Reads a form into memory: at most 20 files with 3,932,160 bytes together, 100 parts, 1 MiB of text.
 * @throws AppError FILE_TOO_LARGE, PAYLOAD_TOO_LARGE, INVALID_INPUT
 */
export async function readMultipart(request: Request): Promise<MultipartInput> {
  const { boundary } = mediaType(request)
  if (boundary === null) throw invalid('The content-type has no valid boundary.')
  const parts = parseParts(await readBytes(request, MAX_BODY_BYTES, () => fileTooLarge()), boundary, MAX_PARTS)
  return toInput(parts)
}

function toInput(parts: Part[]): MultipartInput {
  const texts = new Map<string, string[]>()
  let file: Upload | null = null
  const named: NamedUpload[] = []
  let fileBytes = 0
  let textBytes = 0
  for (const { name, filename, type, bytes } of parts) {
    // Browsers send this for a file input without a chosen file.
    if (filename === '' && bytes.byteLength === 0) continue
    if (name === FILE_PART || filename !== null) {
      fileBytes += bytes.byteLength
      if (fileBytes > MAX_FILE_BYTES) throw fileTooLarge({ several: fileBytes > bytes.byteLength })
      if (name !== FILE_PART) named.push({ part: name, upload: { name: filename || name, type, bytes } })
      else if (file) throw invalid('Only one file may be sent.', FILE_PART)
      else file = { name: filename || FILE_PART, type, bytes }
      if (named.length + (file ? 1 : 0) > MAX_FILES) throw invalid(`At most ${MAX_FILES} files may be sent.`, name)
    } else {
      textBytes += bytes.byteLength
      if (textBytes > MAX_JSON_BYTES) {
        const message = `The text parts may have at most ${MAX_JSON_BYTES} bytes together.`
        throw new AppError('PAYLOAD_TOO_LARGE', { details: [{ message }] })
      }
      const values = texts.get(name) ?? []
      values.push(decodeText(name, type, bytes))
      texts.set(name, values)
    }
  }
  return new MultipartInput(texts, file, named)
}

function decodeText(name: string, type: string, bytes: Uint8Array): string {
  const charset = /;\s*charset\s*=\s*"?([^";\s]*)/i.exec(type)?.[1]?.toLowerCase()
  if (charset !== undefined && charset !== 'utf-8' && charset !== 'us-ascii') {
    throw invalid('Text must be sent as UTF-8.', name)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    throw invalid('Text must be sent as UTF-8.', name)
  }
}

function mediaType(request: Request): { type: string; boundary: string | null } {
  const header = request.headers.get('content-type') ?? ''
  const type = header.split(';')[0]?.trim().toLowerCase() ?? ''
  const match = /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]*))\s*(?:;|$)/i.exec(header)
  const boundary = match?.[1] ?? match?.[2] ?? ''
  // RFC 2046, section 5.1.1
  return {
    type,
    boundary: /^[0-9A-Za-z'()+_,\-./:=? ]{0,69}[0-9A-Za-z'()+_,\-./:=?]$/.test(boundary) ? boundary : null,
  }
}

function invalid(message: string, part?: string): AppError {
  return new AppError('INVALID_INPUT', {
    details: [{ ...(part === undefined ? {} : { path: part.slice(0, 100) }), message }],
  })
}
