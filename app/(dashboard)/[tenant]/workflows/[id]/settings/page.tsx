import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { SettingsScreen } from './settings-screen'

export const metadata: Metadata = { title: 'Settings of a workflow' }

export default async function Page({ params }: { params: Promise<{ tenant: string; id: string }> }) {
  const { tenant, id } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  const workflowId = decodeURIComponent(id)
  await prefetch(trpc.workflows.get.queryOptions({ id: workflowId }))
  return (
    <Hydrate>
      <SettingsScreen workflowId={workflowId} />
    </Hydrate>
  )
}
