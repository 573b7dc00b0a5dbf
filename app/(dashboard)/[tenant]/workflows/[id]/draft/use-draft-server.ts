'use client'
import { type QueryClient, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { errorOf, useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { OPTIONAL_SETTINGS } from '@/server/definition/settings'
import type { Draft as WorkflowDraft } from '@/server/views/workflows/get-draft'
import { definitionOf } from '../model/definition'
import type { DraftServer, Loaded } from './draft-server'
import { createOwnVersions, type OwnVersions } from './own-versions'

/** The calls for one workflow. Each names its id, so that no save can reach another workflow. */
export function useDraftServer(workflowId: string): DraftServer {
  const client = useTRPCClient()
  const trpc = useTRPC()
  const cache = useQueryClient()
  return useMemo(
    () => ({
      own: ownVersionsOf(cache, workflowId),
      load: async (signal) => loadedOf(await client.workflows.get.query({ id: workflowId }, { signal })),
      save: (definition, base, signal) =>
        client.workflows.save.mutate(
          {
            id: workflowId,
            body: {
              ...definition,
              ...Object.fromEntries(OPTIONAL_SETTINGS.map((name) => [name, definition[name] ?? null])),
              version: base,
            },
          },
          { signal },
        ),
      async saveLayout(layout, signal) {
        await client.workflows.saveLayout.mutate({ id: workflowId, layout }, { signal })
      },
      remember({ definition, ...known }) {
        const settings = Object.fromEntries(OPTIONAL_SETTINGS.map((name) => [name, definition[name]]))
        cache.setQueryData(trpc.workflows.get.queryKey({ id: workflowId }), (before) =>
          before && before.version <= known.version
            ? {
                ...{ ...before, ...definition, ...settings, ...known },
                publishedNumber: known.publishedVersion === before.publishedVersion ? before.publishedNumber : null,
                // The number of unpublished changes is computed again.
                unpublishedChanges: null,
              }
            : before,
        )
      },
      failureOf: errorOf,
    }),
    [client, trpc, cache, workflowId],
  )
}

export function loadedOf(workflow: WorkflowDraft): Loaded {
  const { version, publishedVersion, layout, updatedByName, updatedByYou } = workflow
  const updatedBy = updatedByYou ? null : updatedByName
  return { version, publishedVersion, layout, definition: definitionOf(workflow), updatedBy }
}

/** Lives as long as the page's cache, so that a screen knows another screen's saves. */
const OWN = new WeakMap<QueryClient, Map<string, OwnVersions>>()

function ownVersionsOf(cache: QueryClient, workflowId: string): OwnVersions {
  const workflows = OWN.get(cache) ?? new Map<string, OwnVersions>()
  OWN.set(cache, workflows)
  const own = workflows.get(workflowId) ?? createOwnVersions()
  workflows.set(workflowId, own)
  return own
}
