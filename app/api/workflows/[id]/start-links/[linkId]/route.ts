import { START_LINK_ENDPOINTS } from '@/server/links/start/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(START_LINK_ENDPOINTS.revokeStartLink)
