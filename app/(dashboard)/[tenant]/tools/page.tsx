import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { reader } from '../_versioned/list-query'
import { ToolList } from './tool-list'
import { toolQuery } from './tool-query'

export const metadata: Metadata = { title: 'Tools' }

export default workspacePage(
  () => <ToolList />,
  async (trpc, _, search) => {
    const { own, builtin } = toolQuery(reader(await search()))
    return [own && trpc.tools.list.queryOptions(own), builtin && trpc.tools.list.queryOptions(builtin)]
  },
)
