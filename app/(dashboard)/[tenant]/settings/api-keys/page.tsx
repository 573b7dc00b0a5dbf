import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { KeyList } from './key-list'

export const metadata: Metadata = { title: 'API keys' }

export default workspacePage(
  () => <KeyList />,
  (trpc) => [trpc.keys.list.queryOptions()],
)
