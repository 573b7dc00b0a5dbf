import { serve } from '@/server/rest/serve'
import { SERVICE_ENDPOINTS } from '@/server/rest/service-endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(SERVICE_ENDPOINTS.getMetrics)
