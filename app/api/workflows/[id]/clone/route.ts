import { serve } from '@/server/rest/serve'
import { WORKFLOW_ENDPOINTS } from '@/server/workflows/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(WORKFLOW_ENDPOINTS.cloneWorkflow)
