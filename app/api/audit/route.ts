import { AUDIT_ENDPOINTS } from '@/server/audit-log/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(AUDIT_ENDPOINTS.listAudit)
