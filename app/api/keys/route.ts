import { createApiKey } from '@/server/credentials/api-keys/create'
import { listApiKeys } from '@/server/credentials/api-keys/list'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/keys', {
  GET: route(async ({ ctx }) => ({ body: await listApiKeys(ctx) })),
  // A stored response would contain the key.
  POST: route(async ({ ctx, body }) => ({ status: 201, body: await createApiKey(ctx, body) }), { idempotent: false }),
})
