import { serve } from '@/server/rest/serve'
import { RUN_ENDPOINTS } from '@/server/runs/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(RUN_ENDPOINTS.streamRunEvents)

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
