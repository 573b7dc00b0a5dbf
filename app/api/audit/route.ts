import { AUDIT_ENDPOINTS } from '@/server/audit-log/openapi'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(AUDIT_ENDPOINTS.listAudit)
