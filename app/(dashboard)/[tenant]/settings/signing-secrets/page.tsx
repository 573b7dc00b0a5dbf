import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/page'
import { SecretList } from './secret-list'

export const metadata: Metadata = { title: 'Signing secrets' }

export default workspacePage(
  () => <SecretList />,
  (trpc) => [trpc.secrets.list.queryOptions()],
)
