import { listAuditActors } from '../../audit-log/actors'
import { exportAudit } from '../../audit-log/export'
import type { AuditFilter, ListAudit } from '../../audit-log/schema'
import { browseAudit } from '../../views/audit'
import { inputWith, router, tenantProcedure } from '../init'

export const auditRouter = router({
  list: tenantProcedure.input(inputWith<ListAudit>()).query(({ ctx, input }) => browseAudit(ctx.service, input)),
  actors: tenantProcedure.query(({ ctx }) => listAuditActors(ctx.service)),
  exportCsv: tenantProcedure.input(inputWith<AuditFilter>()).query(({ ctx, input }) => exportAudit(ctx.service, input)),
})
