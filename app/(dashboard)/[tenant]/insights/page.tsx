import type { Metadata } from 'next'
import { workspacePage } from '@/app/_trpc/workspace-page'
import { InsightsScreen } from '../_insights/insights-screen'
import { DEFAULT_DAYS } from '../_insights/period'

export const metadata: Metadata = { title: 'Insights' }

export default workspacePage(
  () => <InsightsScreen />,
  (trpc) => [trpc.insights.read.queryOptions({ days: DEFAULT_DAYS })],
)
