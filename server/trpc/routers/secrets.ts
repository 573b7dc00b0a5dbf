import { createSigningSecret } from '../../credentials/signing-secrets/create'
import { debugToken } from '../../credentials/signing-secrets/debug-token'
import { disableSigningSecret, enableSigningSecret } from '../../credentials/signing-secrets/disable'
import { limitSigningSecret } from '../../credentials/signing-secrets/limit'
import type { SecretLimits } from '../../credentials/signing-secrets/limits'
import { rotateSigningSecret } from '../../credentials/signing-secrets/rotate'
import type { Role } from '../../roles'
import { browseSigningSecrets } from '../../views/credentials/signing-secrets'
import { inputWith, router, tenantProcedure } from '../init'

interface OneSecret {
  id: string
}

/** Signing secrets, with which customers' backends sign tokens. */
export const secretsRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseSigningSecrets(ctx.service)),
  create: tenantProcedure
    .input(inputWith<{ name: string; role?: Role } & Partial<SecretLimits>>())
    .mutation(({ ctx, input }) => createSigningSecret(ctx.service, input)),
  disable: tenantProcedure
    .input(inputWith<OneSecret>('id'))
    .mutation(({ ctx, input }) => disableSigningSecret(ctx.service, input.id)),
  enable: tenantProcedure
    .input(inputWith<OneSecret>('id'))
    .mutation(({ ctx, input }) => enableSigningSecret(ctx.service, input.id)),
  rotate: tenantProcedure
    .input(inputWith<OneSecret & { graceMs: number }>('id'))
    .mutation(({ ctx, input }) => rotateSigningSecret(ctx.service, input)),
  limit: tenantProcedure
    .input(inputWith<OneSecret & { limits: SecretLimits }>('id'))
    .mutation(({ ctx, input }) => limitSigningSecret(ctx.service, input)),
  /** A mutation although it changes nothing, because a token must not end up in a cache. */
  debug: tenantProcedure
    .input(inputWith<{ token: string }>())
    .mutation(({ ctx, input }) => debugToken(ctx.service, input)),
})
