import { and, eq } from 'drizzle-orm'
import { runs } from '@/db/schema/runs'
import { record } from '../audit/record'
import { authorize, seesHidden } from '../auth/policy'
import { type ServiceContext, withTransaction } from '../context'
import { type FileRow, findFile, readStart, streamFile } from '../files/read'
import { MAX_FILE_BYTES } from '../http/multipart-input'
import { hiddenFiles } from './hidden-files'

/**
 * A file whose bytes the caller may have. A file of a sensitive field follows the rules of a revealed value: only
 * signed-in people with that right get it, and the audit log records it.
 * @throws AppError FORBIDDEN, and as `findFile`
 */
export async function findDownload(ctx: ServiceContext, input: { fileId: string }): Promise<FileRow> {
  const file = await findFile(ctx, input)
  await requireShown(ctx, file)
  return file
}

/**
 * As `findDownload`, with the bytes. Those of a file larger than a form may have come as they are read.
 * @throws AppError FORBIDDEN, FILE_NOT_FOUND, UNAVAILABLE
 */
export async function openDownload(
  ctx: ServiceContext,
  input: { fileId: string },
): Promise<{ file: FileRow; body: Buffer | ReadableStream<Uint8Array> }> {
  const file = await findDownload(ctx, input)
  const isSmall = file.size <= MAX_FILE_BYTES
  return { file, body: isSmall ? await readStart(ctx, file, file.size + 1) : await streamFile(ctx, file) }
}

/**
 * Reveals a file of a sensitive field to a person who may see it.
 * @throws AppError FORBIDDEN
 */
export async function requireShown(ctx: ServiceContext, file: FileRow): Promise<void> {
  const { id, runId } = file
  if (runId === null || !seesHidden(ctx) || !(await hiddenFiles(ctx, [file])).has(id)) return
  authorize(ctx, 'run:reveal')
  await withTransaction(ctx, async (tx) => {
    const [run] = await tx.db
      .select({ name: runs.workflowName })
      .from(runs)
      .where(and(eq(runs.tenantId, tx.tenantId), eq(runs.id, runId)))
    await record(tx, 'run.revealed', { id: runId, name: run?.name ?? runId }, { of: 'file', file: id })
  })
}
