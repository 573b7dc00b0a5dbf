import { serve } from '@/server/rest/serve'
import { FILE_ENDPOINTS } from '@/server/vault/openapi-files'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(FILE_ENDPOINTS.downloadFile)
