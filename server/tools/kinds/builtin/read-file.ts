import { z } from 'zod'
import type { ServiceContext } from '../../../context'
import type { JsonValue } from '../../../definition/json'
import { parseKeepingDigits } from '../../../definition/long-numbers'
import { AppError } from '../../../errors'
import { MAX_FILE_BYTES } from '../../../http/multipart-input'
import { issuesToDetails } from '../../../parse'
import { downloadFile } from '../../../vault/download-file'
import type { ToolCall } from '../../call'
import { type ToolOutcome, toolFailure } from '../../schema'
import { type PdfText, readPdfText } from './pdf-text'

const DEFAULT_MAX_BYTES = 1024 * 1024

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
 * `maxBytes`; as JSON it is an error. As text, a PDF is the text of its pages, truncated likewise.
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
  const { fileId, as, maxBytes } = parsed.data
  let found: Awaited<ReturnType<typeof downloadFile>>
  try {
    found = await downloadFile(ctx, { fileId })
  } catch (err) {
    if (err instanceof AppError && err.code === 'FILE_NOT_FOUND') return failure('File not found')
    if (err instanceof AppError && err.code === 'FORBIDDEN') return failure('The file is hidden from you')
    throw err
  }
  const { file, bytes } = found
  const about = { name: file.name, type: file.sniffedType, size: file.size }
  if (as === 'text' && file.sniffedType === 'application/pdf') {
    const read = await readPdfText(ctx.tenantId, bytes, { maxChars: maxBytes })
    if ('problem' in read) return PDF_FAILURES[read.problem]
    const content = decode(Buffer.from(read.text).subarray(0, maxBytes), true)
    return { success: true, data: { ...about, content, truncated: read.cut || content.length < read.text.length } }
  }
  const truncated = bytes.byteLength > maxBytes
  const read = bytes.subarray(0, maxBytes)
  let content: JsonValue
  try {
    if (as === 'base64') content = read.toString('base64')
    else if (as === 'text') content = decode(read, truncated)
    else if (truncated) return failure(`The file has ${file.size} bytes, more than maxBytes (${maxBytes})`)
    else content = parseKeepingDigits(decode(read, false))
  } catch {
    return failure(as === 'json' ? 'The file is not JSON' : 'The file is not UTF-8 text; read it as base64')
  }
  return { success: true, data: { ...about, content, truncated } }
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
