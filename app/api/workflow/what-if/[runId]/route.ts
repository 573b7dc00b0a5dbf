import { serve } from '@/server/rest/serve'
import { WHAT_IF_ENDPOINTS } from '@/server/runs/what-if/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(WHAT_IF_ENDPOINTS.whatIf)
