import { createApiKey } from '../../credentials/api-keys/create'
import { disableApiKey, enableApiKey } from '../../credentials/api-keys/disable'
import { rotateApiKey } from '../../credentials/api-keys/rotate'
import type { Role } from '../../roles'
import { browseApiKeys } from '../../views/credentials/api-keys'
import { inputWith, router, tenantProcedure } from '../init'

interface OneKey {
  id: string
}

export const keysRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseApiKeys(ctx.service)),
  create: tenantProcedure
    .input(inputWith<{ name: string; role: Role; only?: 'definitions:check' }>())
    .mutation(({ ctx, input }) => createApiKey(ctx.service, input)),
  rotate: tenantProcedure
    .input(inputWith<OneKey & { graceMs?: number }>('id'))
    .mutation(({ ctx, input }) => rotateApiKey(ctx.service, input.id, input.graceMs)),
  disable: tenantProcedure
    .input(inputWith<OneKey>('id'))
    .mutation(({ ctx, input }) => disableApiKey(ctx.service, input.id)),
  enable: tenantProcedure
    .input(inputWith<OneKey>('id'))
    .mutation(({ ctx, input }) => enableApiKey(ctx.service, input.id)),
})
