'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { diffDefinitions, sizeOfDiff } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import { definitionOf } from '../model/definition'

/** The number of changes since the published version; null when nothing is published or while it loads. */
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
