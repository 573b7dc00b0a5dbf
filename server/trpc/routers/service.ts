import { readService } from '../../metrics/service'
import { router, tenantProcedure } from '../init'

export const serviceRouter = router({
  read: tenantProcedure.query(({ ctx }) => readService(ctx.service)),
})
