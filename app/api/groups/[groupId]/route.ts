import { GROUP_ENDPOINTS } from '@/server/members/groups/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  GROUP_ENDPOINTS.getGroup,
  GROUP_ENDPOINTS.updateGroup,
  GROUP_ENDPOINTS.deleteGroup,
)
