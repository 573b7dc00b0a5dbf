import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { InsightsScreen } from '../_insights/insights-screen'
import { DEFAULT_DAYS } from '../_insights/period'

export const metadata: Metadata = { title: 'Insights' }

export default async function InsightsPage({ params }: { params: Promise<{ tenant: string }> }) {
  const { tenant } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  await prefetch(trpc.insights.read.queryOptions({ days: DEFAULT_DAYS }))
  return (
    <Hydrate>
      <InsightsScreen />
    </Hydrate>
  )
}
