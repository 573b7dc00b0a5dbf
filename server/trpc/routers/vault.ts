import { bindVaultSecret } from '../../vault/bind'
import { deleteVaultSecret } from '../../vault/delete'
import { setVaultSecret } from '../../vault/set'
import { browseVault } from '../../views/vault'
import { inputWith, router, tenantProcedure } from '../init'

interface NewSecret {
  name: string
  value: string
  hosts?: string[] | undefined
}

export const vaultRouter = router({
  list: tenantProcedure.query(({ ctx }) => browseVault(ctx.service)),
  set: tenantProcedure.input(inputWith<NewSecret>()).mutation(({ ctx, input }) => setVaultSecret(ctx.service, input)),
  /** Leaves an existing secret of the name as it is, and fails. */
  add: tenantProcedure
    .input(inputWith<NewSecret>())
    .mutation(({ ctx, input }) => setVaultSecret(ctx.service, input, { onlyNew: true })),
  bind: tenantProcedure
    .input(inputWith<{ name: string; hosts: string[] }>('name'))
    .mutation(({ ctx, input }) => bindVaultSecret(ctx.service, input)),
  delete: tenantProcedure
    .input(inputWith<{ name: string }>('name'))
    .mutation(({ ctx, input }) => deleteVaultSecret(ctx.service, input.name)),
})
