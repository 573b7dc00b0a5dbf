'use client'
import { useDebouncedValue } from '@mantine/hooks'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import type { Changes } from './changes'

/** A version to try the run on: its own, or another saved one. */
export type Version = 'own' | 'published' | 'latest' | number

/** Typing waits this long for its answer. */
const TYPING_MS = 250

/** Both ways of a run, which follow the changes as they are typed. */
export function useWhatIf(runId: string, version: Version, changes: Changes) {
  const client = useTRPCClient()
  const [settled] = useDebouncedValue(changes, TYPING_MS)
  const answer = useQuery({
    queryKey: ['what-if', runId, version, settled],
    queryFn: ({ signal }) =>
      client.runs.whatIf.mutate({ runId, body: { version, changes: settled as never } }, { signal }),
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  })
  return { answer, isBehind: settled !== changes || answer.isFetching }
}

/** The run's own definition and the one that it is tried on, as they are written. */
export function useBoth(runId: string, workflowId: string, version: Version) {
  const trpc = useTRPC()
  const forever = { staleTime: Number.POSITIVE_INFINITY }
  const pinned = useQuery({ ...trpc.runs.definition.queryOptions({ runId }), ...forever })
  const own = pinned.data?.version
  const written = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(own) }),
    ...{ ...forever, enabled: own !== undefined },
  })
  const isOwn = version === 'own' || version === own
  const other = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(version) }),
    enabled: !isOwn,
  })
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), ...forever })
  const failed = [pinned, written, ...(isOwn ? [] : [other]), catalog].find(({ error }) => error)
  const after = isOwn ? written.data : other.data
  const isLoaded = pinned.data && written.data && after && catalog.data
  return {
    failed: failed ?? null,
    loaded: isLoaded
      ? {
          // The transport's types cannot express "any JSON".
          before: written.data as unknown as Definition,
          after: after as unknown as Definition,
          ...{ layout: pinned.data.layout, catalog: catalog.data },
        }
      : null,
  }
}
