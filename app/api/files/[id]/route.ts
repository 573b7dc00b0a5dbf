import { serve } from '@/server/rest/serve'
import { FILE_ENDPOINTS } from '@/server/vault/file-endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  FILE_ENDPOINTS.cancelUpload,
  FILE_ENDPOINTS.downloadFile,
)
