import type { Pulse } from '@/server/views/home/pulse'

/** 13 runs in the last 24 hours: 8 completed, 2 waiting, 3 failed. The parts add up to the total. */
export function pulseText({ counts, exact }: Pick<Pulse, 'counts' | 'exact'>): string {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0)
  if (total === 0) return 'No runs in the last 24 hours'
  if (!exact) return 'More than 10,000 runs in the last 24 hours'
  const parts = [
    [counts.completed, 'completed'],
    [counts.running, 'running'],
    [counts.paused, 'waiting'],
    [(counts.failed ?? 0) + (counts.timed_out ?? 0), 'failed'],
    [counts.cancelled, 'cancelled'],
    [counts.terminated, 'terminated'],
  ] as const
  const said = parts.flatMap(([count, word]) => (count ? [`${count} ${word}`] : []))
  return `${total} ${total === 1 ? 'run' : 'runs'} in the last 24 hours: ${said.join(', ')}`
}
