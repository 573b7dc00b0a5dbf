import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { ToolScreen } from './tool-screen'

export const metadata: Metadata = { title: 'Tool' }

export default async function ToolPage({ params }: { params: Promise<{ tenant: string; toolId: string }> }) {
  const { tenant, toolId } = await params
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  await prefetch(trpc.tools.open.queryOptions({ id: toolId }))
  return (
    <Hydrate>
      <ToolScreen toolId={toolId} key={toolId} />
    </Hydrate>
  )
}
