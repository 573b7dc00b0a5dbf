import { MEMBER_ENDPOINTS } from '@/server/members/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(MEMBER_ENDPOINTS.listMembers)
