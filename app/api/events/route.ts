import { EVENT_ENDPOINTS } from '@/server/events/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(EVENT_ENDPOINTS.postEvent)
