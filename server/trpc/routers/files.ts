import { beginUpload } from '../../files/direct/begin'
import { cancelUpload } from '../../files/direct/cancel'
import { completeUpload } from '../../files/direct/complete'
import type { BeginUpload } from '../../files/direct/schema'
import { type EncodedFile, storeSentFile } from '../../runs/with-files'
import { type DescribeFiles, describeFiles } from '../../vault/describe-files'
import { inputWith, router, tenantProcedure } from '../init'

export const filesRouter = router({
  describe: tenantProcedure
    .input(inputWith<DescribeFiles>())
    .query(({ ctx, input }) => describeFiles(ctx.service, input)),
  /** For a message to an agent. */
  store: tenantProcedure
    .input(inputWith<EncodedFile>())
    .mutation(({ ctx, input }) => storeSentFile(ctx.service, input)),
  /** A page sends the bytes to its own origin. */
  beginUpload: tenantProcedure
    .input(inputWith<BeginUpload>())
    .mutation(({ ctx, input: body }) => beginUpload(ctx.service, { body, origin: '' })),
  completeUpload: tenantProcedure
    .input(inputWith<{ fileId: string }>('fileId'))
    .mutation(({ ctx, input }) => completeUpload(ctx.service, input)),
  cancelUpload: tenantProcedure
    .input(inputWith<{ fileId: string }>('fileId'))
    .mutation(({ ctx, input }) => cancelUpload(ctx.service, input)),
})
