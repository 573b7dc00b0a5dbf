import { SERVICE_ENDPOINTS } from '@/server/rest/openapi-service'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(SERVICE_ENDPOINTS.getHealth)
