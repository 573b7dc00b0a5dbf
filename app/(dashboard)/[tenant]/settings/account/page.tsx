import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { AccountSettings } from './account-settings'

export const metadata: Metadata = { title: 'Your account' }

export default workspacePage(
  () => <AccountSettings />,
  (trpc) => [trpc.account.get.queryOptions()],
)
