import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { SecretList } from './secret-list'

export const metadata: Metadata = { title: 'Signing secrets' }

export default workspacePage(
  () => <SecretList />,
  (trpc) => [trpc.secrets.list.queryOptions()],
)
