'use client'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

/** The last 24 hours in one line. */
export function Pulse() {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.home.pulse.queryOptions(), refetchInterval: 15_000 })
  if (!data) return null
  const { counts, exact } = data
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) return <span>No runs in the last 24 hours</span>
  const failed = (counts.failed ?? 0) + (counts.timed_out ?? 0)
  const parts = [
    [counts.completed, 'completed'],
    [counts.running, 'running'],
    [counts.paused, 'waiting'],
    [failed, 'failed'],
  ] as const
  const said = parts.flatMap(([count, word]) => (count ? [`${count} ${word}`] : []))
  const runs = exact ? `${total} ${total === 1 ? 'run' : 'runs'}` : 'More than 10,000 runs'
  return (
    <span>
      {runs} in the last 24 hours{exact && said.length > 0 ? `: ${said.join(', ')}` : ''}
    </span>
  )
}
