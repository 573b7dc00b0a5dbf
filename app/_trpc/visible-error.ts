import type { VisibleError } from '@/server/trpc/errors'

/** The service's error that a failed call or upload carries; null if the service could not be reached. */
export function visibleError(error: unknown): VisibleError | null {
  return (error as { data?: { error?: VisibleError } | null } | null)?.data?.error ?? null
}

export const UNREACHABLE = 'The service could not be reached. Check the connection and try again.'
