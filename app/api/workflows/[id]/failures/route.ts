import { serve } from '@/server/rest/serve'
import { RUN_ENDPOINTS } from '@/server/runs/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(RUN_ENDPOINTS.listFailures)
