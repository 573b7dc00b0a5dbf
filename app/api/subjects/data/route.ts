import { serve } from '@/server/rest/serve'
import { SUBJECT_ENDPOINTS } from '@/server/subjects/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  SUBJECT_ENDPOINTS.countSubjectData,
  SUBJECT_ENDPOINTS.deleteSubjectData,
)

/** In seconds, on platforms that limit it. */
export const maxDuration = 60
