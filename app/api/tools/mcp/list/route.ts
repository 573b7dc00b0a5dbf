import { serve } from '@/server/rest/serve'
import { TOOL_ENDPOINTS } from '@/server/tools/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(TOOL_ENDPOINTS.listRemoteTools)
