import { rotateSigningSecret } from '@/server/credentials/signing-secrets/rotate'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/signing-secrets/[secretId]/rotate', {
  // A stored response would contain the secret.
  POST: route<'secretId'>(
    async ({ ctx, params, body }) => ({
      body: await rotateSigningSecret(ctx, { id: params.secretId, graceMs: body.graceMs }),
    }),
    { idempotent: false },
  ),
})
