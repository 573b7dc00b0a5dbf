import { createSigningSecret } from '@/server/credentials/signing-secrets/create'
import { listSigningSecrets } from '@/server/credentials/signing-secrets/list'
import { methods, route } from '@/server/rest/route'

export const { GET, POST, PUT, PATCH, DELETE, OPTIONS } = methods('/api/signing-secrets', {
  GET: route(async ({ ctx }) => ({ body: await listSigningSecrets(ctx) })),
  // A stored response would contain the secret.
  POST: route(async ({ ctx, body }) => ({ status: 201, body: await createSigningSecret(ctx, body) }), {
    idempotent: false,
  }),
})
