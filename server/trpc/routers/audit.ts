import { listAuditActors } from '../../audit-log/actors'
import { exportAudit } from '../../audit-log/export'
import type { AuditFilter, ListAudit } from '../../audit-log/schema'
import { browseAudit } from '../../views/audit'
import { given, router, tenantProcedure } from '../init'

export const auditRouter = router({
  list: tenantProcedure.input(given<ListAudit>()).query(({ ctx, input }) => browseAudit(ctx.service, input)),
  actors: tenantProcedure.query(({ ctx }) => listAuditActors(ctx.service)),
  exportCsv: tenantProcedure.input(given<AuditFilter>()).query(({ ctx, input }) => exportAudit(ctx.service, input)),
})
