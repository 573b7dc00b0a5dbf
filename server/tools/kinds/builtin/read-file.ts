import { z } from 'zod'
import type { ServiceContext } from '../../../context'
import type { JsonValue } from '../../../definition/json'
import { parseKeepingDigits } from '../../../definition/long-numbers'
import { AppError } from '../../../errors'
import { type FileRow, readStart } from '../../../files/read'
import { MAX_FILE_BYTES } from '../../../http/multipart-input'
import { issuesToDetails } from '../../../parse'
import { findDownload } from '../../../vault/download-file'
import type { ToolCall } from '../../call'
import { type ToolOutcome, toolFailure } from '../../schema'
import { type PdfText, readPdfText } from './pdf-text'

const DEFAULT_MAX_BYTES = 1024 * 1024
/** A PDF is read whole. */
const MAX_PDF_BYTES = 25 * 1024 * 1024

export const ReadFileArgs = z.object({
  fileId: z.string().max(100).describe('The file’s id, in data.fileId after a multipart start'),
  as: z
    .enum(['text', 'base64', 'json'])
    .default('text')
    .describe('Form of the content: text (UTF-8; of a PDF the text of its pages), base64, or parsed JSON'),
  maxBytes: z.number().int().min(1).max(MAX_FILE_BYTES).default(DEFAULT_MAX_BYTES).describe('How many bytes to read'),
})

/**
 * Returns `{ name, type, size, content, truncated }` of one of the tenant's files. Truncates a file larger than
 * `maxBytes`, which is not read further; as JSON it is an error. As text, a PDF is the text of its pages, truncated
 * likewise.
 */
export async function readFileTool(ctx: ServiceContext, call: ToolCall): Promise<ToolOutcome> {
  const parsed = ReadFileArgs.safeParse(call.args)
  if (!parsed.success) {
    const problems = issuesToDetails(parsed.error.issues)
    return failure(
      'Invalid arguments',
      problems.map(({ path, message }) => `${path || 'args'}: ${message}`),
    )
  }
  try {
    return await read(ctx, await findDownload(ctx, parsed.data), parsed.data)
  } catch (err) {
    if (err instanceof AppError && err.code === 'FILE_NOT_FOUND') return failure('File not found')
    if (err instanceof AppError && err.code === 'FORBIDDEN') return failure('The file is hidden from you')
    throw err
  }
}

async function read(
  ctx: ServiceContext,
  file: FileRow,
  { as, maxBytes }: z.output<typeof ReadFileArgs>,
): Promise<ToolOutcome> {
  if (as === 'text' && file.sniffedType === 'application/pdf') return readPdf(ctx, file, maxBytes)
  const truncated = file.size > maxBytes
  if (as === 'json' && truncated) return failure(`The file has ${file.size} bytes, more than maxBytes (${maxBytes})`)
  const bytes = await readStart(ctx, file, maxBytes)
  let content: JsonValue
  try {
    if (as === 'base64') content = bytes.toString('base64')
    else if (as === 'text') content = decode(bytes, truncated)
    else content = parseKeepingDigits(decode(bytes, false))
  } catch {
    return failure(as === 'json' ? 'The file is not JSON' : 'The file is not UTF-8 text; read it as base64')
  }
  return { success: true, data: { ...aboutOf(file), content, truncated } }
}

async function readPdf(ctx: ServiceContext, file: FileRow, maxBytes: number): Promise<ToolOutcome> {
  if (file.size > MAX_PDF_BYTES)
    return failure(`The PDF has ${file.size} bytes; its text can be read up to ${MAX_PDF_BYTES} bytes`)
  const found = await readPdfText(ctx.tenantId, () => readStart(ctx, file, file.size), { maxChars: maxBytes })
  if ('problem' in found) return PDF_FAILURES[found.problem]
  const content = decode(Buffer.from(found.text).subarray(0, maxBytes), true)
  const truncated = found.cut || content.length < found.text.length
  return { success: true, data: { ...aboutOf(file), content, truncated } }
}

function aboutOf({ name, sniffedType: type, size }: FileRow) {
  return { name, type, size }
}

/** A cut may split a character; `stream` drops its first half. */
function decode(bytes: Uint8Array, cut: boolean): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
}

function failure(message: string, details: string[] = []): ToolOutcome {
  return { success: false, error: { message, details, code: 'EXECUTION_ERROR' } }
}

const PDF_FAILURES: Record<Extract<PdfText, { problem: string }>['problem'], ToolOutcome> = {
  damaged: failure('The PDF is damaged; read it as base64'),
  locked: failure('The PDF is protected by a password; read it as base64'),
  'too slow': failure('The text of the PDF could not be read in time; read it as base64'),
  'too large': failure('The text of the PDF needs too much memory; read it as base64'),
  busy: toolFailure('EXECUTION_ERROR', 'Too many PDFs are being read; try again later', [], { transient: true }),
}
