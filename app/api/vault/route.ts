import { methods, route } from '@/server/rest/route'
import { listVaultSecrets } from '@/server/vault/list'
import { setVaultSecret } from '@/server/vault/set'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/vault', {
  GET: route(async ({ ctx }) => ({ body: await listVaultSecrets(ctx) })),
  // It does the same again when it is repeated, and nothing is kept of a value.
  POST: route(
    async ({ ctx, body }) => {
      const set = await setVaultSecret(ctx, body)
      return { status: set.created ? 201 : 200, body: set }
    },
    { idempotent: false },
  ),
})
