import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { ServiceScreen } from './service-screen'

export const metadata: Metadata = { title: 'Service' }

export default workspacePage(
  () => <ServiceScreen />,
  (trpc) => [trpc.service.read.queryOptions()],
)
