import type { AgentLimits } from '../../definition/agent'
import { getAgentLimits, setAgentLimits } from '../../tenants/agent-limits'
import { setCorsOrigins } from '../../tenants/cors'
import { keepAudit } from '../../tenants/keep-audit'
import { keepRuns } from '../../tenants/keep-runs'
import { setTenantName } from '../../tenants/set-name'
import { getTenantSettings } from '../../tenants/settings'
import { inputWith, router, tenantProcedure } from '../init'

export const settingsRouter = router({
  get: tenantProcedure.query(({ ctx }) => getTenantSettings(ctx.service)),
  agentLimits: tenantProcedure.query(({ ctx }) => getAgentLimits(ctx.service)),
  setAgentLimits: tenantProcedure
    .input(inputWith<{ limits: AgentLimits }>())
    .mutation(({ ctx, input }) => setAgentLimits(ctx.service, input)),
  rename: tenantProcedure
    .input(inputWith<{ name: string }>())
    .mutation(({ ctx, input }) => setTenantName(ctx.service, input)),
  setCorsOrigins: tenantProcedure
    .input(inputWith<{ origins: string[] }>())
    .mutation(({ ctx, input }) => setCorsOrigins(ctx.service, input)),
  keepRuns: tenantProcedure
    .input(inputWith<{ days: number | null }>())
    .mutation(({ ctx, input }) => keepRuns(ctx.service, input)),
  keepAudit: tenantProcedure
    .input(inputWith<{ days: number }>())
    .mutation(({ ctx, input }) => keepAudit(ctx.service, input)),
})
