import { KEY_ENDPOINTS } from '@/server/credentials/endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(KEY_ENDPOINTS.listApiKeys, KEY_ENDPOINTS.createApiKey)
