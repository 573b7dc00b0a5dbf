import type { Role } from '../../roles'
import { browseSigningSecrets } from '../../secrets/browse'
import { createSigningSecret } from '../../secrets/create'
import { debugToken } from '../../secrets/debug-token'
import { disableSigningSecret, enableSigningSecret } from '../../secrets/disable'
import { given, router, tenantProcedure } from '../init'

interface OneSecret {
  id: string
}

/** Secrets with which customers' backends sign tokens. */
export const secretsRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseSigningSecrets(ctx.service)),
  create: tenantProcedure
    .input(given<{ name: string; role?: Role }>())
    .mutation(({ ctx, input }) => createSigningSecret(ctx.service, input)),
  disable: tenantProcedure
    .input(given<OneSecret>('id'))
    .mutation(({ ctx, input }) => disableSigningSecret(ctx.service, input.id)),
  enable: tenantProcedure
    .input(given<OneSecret>('id'))
    .mutation(({ ctx, input }) => enableSigningSecret(ctx.service, input.id)),
  /** A mutation although nothing changes: a token does not belong into a cache. */
  debug: tenantProcedure.input(given<{ token: string }>()).mutation(({ ctx, input }) => debugToken(ctx.service, input)),
})
