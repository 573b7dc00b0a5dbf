import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import { Inbox } from './inbox'
import { filterOf, inputOf, readTaskId } from './task-id'

export const metadata: Metadata = { title: 'Inbox' }

export default async function InboxPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const [{ tenant }, query] = await Promise.all([params, searchParams])
  const { trpc, prefetch, prefetchInfinite, Hydrate } = await serverTrpc(tenant)
  const get = (name: string) => [query[name] ?? []].flat()[0] ?? ''
  const chosen = readTaskId(get('task'))
  await Promise.all([
    prefetchInfinite(
      trpc.tasks.list.infiniteQueryOptions(inputOf(get), {
        getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
      }),
    ),
    prefetch(trpc.tasks.countViews.queryOptions(filterOf(inputOf(get)))),
    chosen && prefetch(trpc.tasks.get.queryOptions(chosen)),
  ])
  return (
    <Hydrate>
      <Inbox />
    </Hydrate>
  )
}
