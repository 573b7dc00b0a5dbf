import { AGENT_ENDPOINTS } from '@/server/agents/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(AGENT_ENDPOINTS.listTurns)
