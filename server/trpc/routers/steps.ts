import { getCatalog } from '../../steps/catalog'
import { router, tenantProcedure } from '../init'

export const stepsRouter = router({
  catalog: tenantProcedure.query(({ ctx }) => getCatalog(ctx.service)),
})
