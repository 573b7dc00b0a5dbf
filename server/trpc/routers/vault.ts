import { bindVaultSecret } from '../../vault/bind'
import { deleteVaultSecret } from '../../vault/delete'
import { setVaultSecret } from '../../vault/set'
import { browseVault } from '../../views/vault'
import { inputWith, router, tenantProcedure } from '../init'

export const vaultRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseVault(ctx.service)),
  set: tenantProcedure
    .input(inputWith<{ name: string; value: string; hosts?: string[] | undefined }>())
    .mutation(({ ctx, input }) => setVaultSecret(ctx.service, input)),
  bind: tenantProcedure
    .input(inputWith<{ name: string; hosts: string[] }>('name'))
    .mutation(({ ctx, input }) => bindVaultSecret(ctx.service, input)),
  delete: tenantProcedure
    .input(inputWith<{ name: string }>('name'))
    .mutation(({ ctx, input }) => deleteVaultSecret(ctx.service, input.name)),
})
