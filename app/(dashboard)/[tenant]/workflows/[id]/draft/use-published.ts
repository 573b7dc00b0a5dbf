'use client'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { diffDefinitions, sizeOfDiff } from '@/server/definition/diff'
import type { Definition } from '@/server/definition/schema'
import type { Draft } from '@/server/views/workflows/get-draft'
import { definitionOf } from '../model/definition'

/**
 * The number of the published version, and the number of changes since; both null without a published version, or while
 * a newly published one loads.
 * @param opened the workflow as the editor opened it, with the figures of that moment
 */
export function usePublished(
  opened: Pick<Draft, 'id' | 'publishedVersion' | 'publishedNumber' | 'unpublishedChanges'>,
  publishedVersion: number | null,
  definition: Definition,
): { number: number | null; changes: number | null } {
  const trpc = useTRPC()
  const workflowId = opened.id
  const { data } = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(publishedVersion) }),
    enabled: publishedVersion !== null,
    // A version never changes, except for its number, which it may have got since the history listed it as a draft.
    staleTime: ({ state }) => (state.data?.number == null ? 0 : Number.POSITIVE_INFINITY),
  })
  const changes = useMemo(
    () => (data && publishedVersion !== null ? sizeOfDiff(diffDefinitions(definitionOf(data), definition)) : null),
    [data, publishedVersion, definition],
  )
  const asOpened = publishedVersion === opened.publishedVersion ? opened : null
  return {
    number: publishedVersion === null ? null : (data?.number ?? asOpened?.publishedNumber ?? null),
    changes: changes ?? asOpened?.unpublishedChanges ?? null,
  }
}
