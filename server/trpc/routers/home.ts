import { readChecklist } from '../../views/home/checklist'
import { findAnything } from '../../views/home/find'
import { readHealth } from '../../views/home/health'
import { readPulse } from '../../views/home/pulse'
import { inputWith, router, tenantProcedure } from '../init'

/** The home screen gets the rest from `tasks`, `runs` and `workflows`. */
export const homeRouter = router({
  checklist: tenantProcedure.query(({ ctx }) => readChecklist(ctx.service)),
  pulse: tenantProcedure.query(({ ctx }) => readPulse(ctx.service)),
  health: tenantProcedure.query(({ ctx }) => readHealth(ctx.service)),
  find: tenantProcedure.input(inputWith<{ q: string }>()).query(({ ctx, input }) => findAnything(ctx.service, input)),
})
