import { SIGNING_SECRET_ENDPOINTS } from '@/server/credentials/secret-endpoints'
import { serve } from '@/server/rest/serve'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(SIGNING_SECRET_ENDPOINTS.disableSigningSecret)
