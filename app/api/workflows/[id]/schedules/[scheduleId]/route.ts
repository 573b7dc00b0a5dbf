import { serve } from '@/server/rest/serve'
import { SCHEDULE_ENDPOINTS } from '@/server/schedules/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  SCHEDULE_ENDPOINTS.getSchedule,
  SCHEDULE_ENDPOINTS.updateSchedule,
  SCHEDULE_ENDPOINTS.deleteSchedule,
)
