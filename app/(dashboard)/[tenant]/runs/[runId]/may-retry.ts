import type { RunOverview } from '@/server/views/runs/overview'

/** Whether the card of a failure offers to retry it. Once that was done, the page leads to that run. */
export function mayRetry({ state, error, again }: Pick<RunOverview, 'state' | 'error' | 'again'>): boolean {
  return error !== null && (state === 'failed' || state === 'timed_out') && again.length === 0
}
