import { rotateApiKey } from '@/server/credentials/api-keys/rotate'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/keys/[keyId]/rotate', {
  // A stored response would contain the key.
  POST: route<'keyId'>(
    async ({ ctx, params, body }) => ({ body: await rotateApiKey(ctx, params.keyId, body.graceMs) }),
    {
      idempotent: false,
    },
  ),
})
