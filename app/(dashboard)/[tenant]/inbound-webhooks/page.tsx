import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { InboundList } from './inbound-list'

export const metadata: Metadata = { title: 'Inbound webhooks' }

export default workspacePage(
  () => <InboundList />,
  (trpc) => [trpc.inbound.list.queryOptions()],
)
