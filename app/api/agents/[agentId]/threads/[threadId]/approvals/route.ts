import { serve } from '@/server/rest/serve'
import { TALK_ENDPOINTS } from '@/server/talk/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(TALK_ENDPOINTS.answerApprovals)

/** In seconds, on platforms that limit it. */
export const maxDuration = 300
