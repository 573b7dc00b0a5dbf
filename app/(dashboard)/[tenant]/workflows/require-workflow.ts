import { notFound } from 'next/navigation'
import { LIST_CAP } from '@/server/versioned/columns'

/** Answers with the page for what does not exist if this workflow is not among all of them. A capped list cannot tell. */
export function requireWorkflow(all: readonly { id: string }[] | undefined, id: string): void {
  if (all && all.length < LIST_CAP && !all.some((one) => one.id === id)) notFound()
}
