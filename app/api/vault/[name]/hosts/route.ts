import { methods, route } from '@/server/rest/route'
import { bindVaultSecret } from '@/server/vault/bind'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/vault/[name]/hosts', {
  PUT: route<'name'>(async ({ ctx, params, body }) => ({
    body: await bindVaultSecret(ctx, { hosts: body.hosts, name: params.name }),
  })),
})
