import { type DescribeFiles, describeFiles } from '../../vault/describe-files'
import { inputWith, router, tenantProcedure } from '../init'

export const filesRouter = router({
  describe: tenantProcedure
    .input(inputWith<DescribeFiles>())
    .query(({ ctx, input }) => describeFiles(ctx.service, input)),
})
