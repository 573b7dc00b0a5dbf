import { LINK_ENDPOINTS } from '@/server/links/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(LINK_ENDPOINTS.revokeTaskLink)
