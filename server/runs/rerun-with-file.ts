import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { newFileId, withStagedFile } from '../files/stage'
import { rerunRun } from './rerun'
import { readSentFile } from './start-with-file'

/**
 * Reruns a run with other data and another file, which becomes the value of every file field of START that the data
 * leaves out.
 * @throws AppError INVALID_INPUT, FILE_TOO_LARGE, UNAVAILABLE, and the errors of `rerunRun`
 */
export async function rerunWithFile(ctx: ServiceContext, input: { runId: string; data: JsonObject; file: unknown }) {
  authorize(ctx, 'run:retry')
  const { runId, data } = input
  const upload = readSentFile(input.file)
  const fileId = newFileId()
  return withStagedFile(ctx, fileId, upload, () => rerunRun(ctx, { runId, body: { data } }, fileId))
}
