import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { WebhookList } from './webhook-list'

export const metadata: Metadata = { title: 'Webhooks' }

export default workspacePage(
  () => <WebhookList />,
  (trpc) => [trpc.webhooks.list.queryOptions()],
)
