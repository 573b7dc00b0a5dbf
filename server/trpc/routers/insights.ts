import type { One } from '../../versioned/noun'
import { type ReadInsights, readInsights } from '../../views/insights/read'
import { readStepFigures } from '../../views/insights/steps'
import { inputWith, router, tenantProcedure } from '../init'

export const insightsRouter = router({
  read: tenantProcedure.input(inputWith<ReadInsights>()).query(({ ctx, input }) => readInsights(ctx.service, input)),
  steps: tenantProcedure.input(inputWith<One>('id')).query(({ ctx, input }) => readStepFigures(ctx.service, input)),
})
