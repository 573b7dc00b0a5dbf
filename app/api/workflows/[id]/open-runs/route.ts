import { serve } from '@/server/rest/serve'
import { MOVE_ENDPOINTS } from '@/server/runs/moves/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(MOVE_ENDPOINTS.listMovableRuns)
