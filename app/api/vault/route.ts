import { serve } from '@/server/rest/serve'
import { VAULT_ENDPOINTS } from '@/server/vault/endpoints'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = serve(
  VAULT_ENDPOINTS.listVaultSecrets,
  VAULT_ENDPOINTS.setVaultSecret,
)
