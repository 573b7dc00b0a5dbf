import { AS_CODE_ENDPOINTS } from '@/server/as-code/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(AS_CODE_ENDPOINTS.backtestDefinitions)

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
