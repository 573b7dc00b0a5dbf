import { z } from 'zod'
import type { ServiceContext } from '../../../context'
import type { JsonValue } from '../../../definition/json'
import { parseKeepingDigits } from '../../../definition/long-numbers'
import { AppError } from '../../../errors'
import { MAX_FILE_BYTES } from '../../../http/multipart-input'
import { issuesToDetails } from '../../../parse'
import { downloadFile } from '../../../vault/download-file'
import type { ToolCall } from '../../call'
import type { ToolOutcome } from '../../schema'

const DEFAULT_MAX_BYTES = 1024 * 1024

export const ReadFileArgs = z.object({
  fileId: z.string().max(100).describe('The file’s id, in data.fileId after a multipart start'),
  as: z
    .enum(['text', 'base64', 'json'])
    .default('text')
    .describe('Form of the content: text (UTF-8), base64, or parsed JSON'),
  maxBytes: z.number().int().min(1).max(MAX_FILE_BYTES).default(DEFAULT_MAX_BYTES).describe('How many bytes to read'),
})

/**
 * Returns `{ name, type, size, content, truncated }` of one of the tenant's files. Truncates a file larger than
 * `maxBytes`; as JSON it is an error.
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
  return { success: true, data: { name: file.name, type: file.sniffedType, size: file.size, content, truncated } }
}

/** A cut may split a character; `stream` drops its first half. */
function decode(bytes: Uint8Array, cut: boolean): string {
  return new TextDecoder('utf-8', { fatal: true }).decode(bytes, { stream: cut })
}

function failure(message: string, details: string[] = []): ToolOutcome {
  return { success: false, error: { message, details, code: 'EXECUTION_ERROR' } }
}
