import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { reader } from '../_versioned/list-query'
import { ToolList } from './tool-list'
import { toolQuery } from './tool-query'

export const metadata: Metadata = { title: 'Tools' }

export default async function ToolsPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const { trpc, prefetch, Hydrate } = await serverTrpc((await params).tenant)
  const { own, builtin } = toolQuery(reader(await searchParams))
  await Promise.all([
    own && prefetch(trpc.tools.list.queryOptions(own)),
    builtin && prefetch(trpc.tools.list.queryOptions(builtin)),
  ])
  return (
    <Hydrate>
      <ToolList />
    </Hydrate>
  )
}
