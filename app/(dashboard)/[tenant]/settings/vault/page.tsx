import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { VaultList } from './vault-list'

export const metadata: Metadata = { title: 'Vault' }

export default workspacePage(
  () => <VaultList />,
  (trpc) => [trpc.vault.list.queryOptions()],
)
