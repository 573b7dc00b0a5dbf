import { listAuditActors } from '../../audit/actors'
import { exportAudit } from '../../audit/export'
import { listAudit } from '../../audit/list'
import type { AuditFilter, ListAudit } from '../../audit/schema'
import { given, router, tenantProcedure } from '../init'

export const auditRouter = router({
  list: tenantProcedure.input(given<ListAudit>()).query(({ ctx, input }) => listAudit(ctx.service, input)),
  actors: tenantProcedure.query(({ ctx }) => listAuditActors(ctx.service)),
  exportCsv: tenantProcedure.input(given<AuditFilter>()).query(({ ctx, input }) => exportAudit(ctx.service, input)),
})
