import type { Metadata } from 'next'
import { serverTrpc } from '@/app/_trpc/server'
import type { countViews } from '@/server/views/tasks/count'
import { Inbox } from './inbox'
import { type FirstView, filterOf, inputOf, namesNoView, readTaskId } from './task-id'

export const metadata: Metadata = { title: 'Inbox' }

export default async function InboxPage({
  params,
  searchParams,
}: {
  params: Promise<{ tenant: string }>
  searchParams: Promise<Record<string, string | string[] | undefined>>
}) {
  const [{ tenant }, query] = await Promise.all([params, searchParams])
  const { trpc, prefetch, prefetchInfinite, known, Hydrate } = await serverTrpc(tenant)
  const get = (name: string) => [query[name] ?? []].flat()[0] ?? ''
  const chosen = readTaskId(get('task'))
  const counts = trpc.tasks.countViews.queryOptions(filterOf(inputOf(get, 'open')))
  const counted = prefetch(counts)
  // Read first only where it decides what else to read.
  if (namesNoView(get)) await counted
  const mine = known<Awaited<ReturnType<typeof countViews>>>(counts)?.mine.count ?? 0
  const first: FirstView = mine > 0 ? 'mine' : 'open'
  await Promise.all([
    counted,
    prefetchInfinite(
      trpc.tasks.list.infiniteQueryOptions(inputOf(get, first), {
        getNextPageParam: ({ nextCursor }) => nextCursor ?? undefined,
      }),
    ),
    chosen && prefetch(trpc.tasks.get.queryOptions(chosen)),
  ])
  return (
    <Hydrate>
      <Inbox first={first} />
    </Hydrate>
  )
}
