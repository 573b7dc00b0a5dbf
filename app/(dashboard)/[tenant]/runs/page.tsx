import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { filterOf, inputOf } from './run-filter'
import { RunsList } from './runs-list'

export const metadata: Metadata = { title: 'Runs' }

export default workspacePage(
  () => <RunsList />,
  async (trpc, _, search) => {
    const input = inputOf(await search())
    return [trpc.runs.list.queryOptions(input), trpc.runs.totals.queryOptions(filterOf(input))]
  },
)
