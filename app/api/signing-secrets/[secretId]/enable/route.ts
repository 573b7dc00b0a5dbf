import { enableSigningSecret } from '@/server/credentials/signing-secrets/disable'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/signing-secrets/[secretId]/enable', {
  POST: route<'secretId'>(async ({ ctx, params }) => ({ body: await enableSigningSecret(ctx, params.secretId) })),
})
