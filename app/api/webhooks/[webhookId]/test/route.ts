import { serve } from '@/server/rest/serve'
import { WEBHOOK_ENDPOINTS } from '@/server/webhooks/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(WEBHOOK_ENDPOINTS.testWebhook)
