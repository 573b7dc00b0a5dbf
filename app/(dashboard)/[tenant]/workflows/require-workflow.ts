import { notFound } from 'next/navigation'
import { LIST_CAP } from '@/server/versioned/columns'

/** Renders the not-found page if this workflow is not in the list. A capped list proves nothing. */
export function requireWorkflow(all: readonly { id: string }[] | undefined, id: string): void {
  if (all && all.length < LIST_CAP && !all.some((one) => one.id === id)) notFound()
}
