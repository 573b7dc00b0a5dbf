import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { ReferenceScreen } from './reference-screen'

export const metadata: Metadata = { title: 'API reference' }

export default workspacePage(
  () => <ReferenceScreen />,
  async (trpc, _, search) => {
    const show = (await search()).get('show')
    return [trpc.reference.open.queryOptions(), show && trpc.reference.read.queryOptions({ id: show })]
  },
)
