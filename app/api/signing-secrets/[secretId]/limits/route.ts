import { limitSigningSecret } from '@/server/credentials/signing-secrets/limit'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/signing-secrets/[secretId]/limits', {
  PUT: route<'secretId'>(async ({ ctx, params, body }) => ({
    body: await limitSigningSecret(ctx, { id: params.secretId, limits: body }),
  })),
})
