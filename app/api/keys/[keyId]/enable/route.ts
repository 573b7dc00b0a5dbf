import { enableApiKey } from '@/server/credentials/api-keys/disable'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/keys/[keyId]/enable', {
  POST: route<'keyId'>(async ({ ctx, params }) => ({ body: await enableApiKey(ctx, params.keyId) })),
})
