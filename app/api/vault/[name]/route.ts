import { methods, route } from '@/server/rest/route'
import { deleteVaultSecret } from '@/server/vault/delete'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/vault/[name]', {
  DELETE: route<'name'>(async ({ ctx, params }) => ({ body: await deleteVaultSecret(ctx, params.name) })),
})
