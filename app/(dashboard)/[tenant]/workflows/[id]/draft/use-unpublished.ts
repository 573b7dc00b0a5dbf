'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { diffDefinitions, sizeOfDiff } from '@/server/workflows/diff'
import type { Definition } from '@/server/workflows/schema'
import { definitionOf } from '../model/definition'

/** How many things differ between what is live and what is on the screen; null while nothing is live, or not known. */
export function useUnpublished(
  workflowId: string,
  publishedVersion: number | null,
  definition: Definition,
): number | null {
  const trpc = useTRPC()
  const { data } = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(publishedVersion) }),
    enabled: publishedVersion !== null,
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
  return useMemo(
    () => (data && publishedVersion !== null ? sizeOfDiff(diffDefinitions(definitionOf(data), definition)) : null),
    [data, publishedVersion, definition],
  )
}
