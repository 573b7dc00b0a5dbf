import type { RunOverview } from '@/server/views/runs/overview'

/** Whether the failure's card offers a retry. After one, the page links to the new run. */
export function mayRetry({
  state,
  error,
  again,
  retry,
}: Pick<RunOverview, 'state' | 'error' | 'again' | 'retry'>): boolean {
  return (
    error !== null &&
    retry !== null &&
    !retry.same &&
    (state === 'failed' || state === 'timed_out') &&
    again.length === 0
  )
}
