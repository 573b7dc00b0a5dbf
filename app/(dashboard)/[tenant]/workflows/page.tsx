import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { readListQuery } from './list-query'
import { WorkflowList } from './workflow-list'

export const metadata: Metadata = { title: 'Workflows' }

export default async function WorkflowsPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const [{ tenant }, search] = await Promise.all([params, searchParams])
  const { trpc, prefetch, Hydrate } = await serverTrpc(tenant)
  const get = (name: string) => {
    const value = search[name]
    return (Array.isArray(value) ? value[0] : value) ?? ''
  }
  await prefetch(trpc.workflows.list.queryOptions(readListQuery(get)))
  return (
    <Hydrate>
      <WorkflowList />
    </Hydrate>
  )
}
