import { USAGE_ENDPOINTS } from '@/server/agents/usage-endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(USAGE_ENDPOINTS.getUsage)
