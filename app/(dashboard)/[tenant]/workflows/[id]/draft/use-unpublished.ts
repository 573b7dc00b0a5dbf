'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { diffDefinitions, sizeOfDiff } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import type { Draft } from '@/server/views/workflows/get-draft'
import { definitionOf } from '../model/definition'

/**
 * The number of changes since the published version; null when nothing is published, or while a version that has just been
 * published loads.
 * @param opened as the editor got it, with the number of that moment
 */
export function useUnpublished(
  opened: Pick<Draft, 'id' | 'publishedVersion' | 'unpublishedChanges'>,
  publishedVersion: number | null,
  definition: Definition,
): number | null {
  const trpc = useTRPC()
  const workflowId = opened.id
  const { data } = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(publishedVersion) }),
    enabled: publishedVersion !== null,
    // A version never changes.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const changes = useMemo(
    () => (data && publishedVersion !== null ? sizeOfDiff(diffDefinitions(definitionOf(data), definition)) : null),
    [data, publishedVersion, definition],
  )
  return changes ?? (publishedVersion === opened.publishedVersion ? opened.unpublishedChanges : null)
}
