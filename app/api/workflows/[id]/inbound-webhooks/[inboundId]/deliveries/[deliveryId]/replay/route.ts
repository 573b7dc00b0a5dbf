import { INBOUND_ENDPOINTS } from '@/server/inbound/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(INBOUND_ENDPOINTS.replayInboundDelivery)
