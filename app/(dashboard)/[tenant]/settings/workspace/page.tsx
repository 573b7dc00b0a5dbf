import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { WorkspaceSettings } from './workspace-settings'

export const metadata: Metadata = { title: 'Workspace' }

export default async function WorkspacePage({ params }: { params: Promise<{ tenant: string }> }) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  await prefetch(trpc.settings.get.queryOptions())
  return (
    <Hydrate>
      <WorkspaceSettings />
    </Hydrate>
  )
}
