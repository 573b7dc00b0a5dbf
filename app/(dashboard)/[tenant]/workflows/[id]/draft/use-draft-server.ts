'use client'
import { useMemo } from 'react'
import { errorOf, useTRPCClient } from '@/app/_trpc/client'
import { OPTIONAL_SETTINGS } from '@/server/definition/settings'
import type { Draft as WorkflowDraft } from '@/server/views/workflows/get-draft'
import { definitionOf } from '../model/definition'
import type { DraftServer, Loaded } from './draft-server'

/** The calls for one workflow. Each names its id, so that no save can reach another workflow. */
export function useDraftServer(workflowId: string): DraftServer {
  const client = useTRPCClient()
  return useMemo(
    () => ({
      load: async () => loadedOf(await client.workflows.get.query({ id: workflowId })),
      save: (definition, base) =>
        client.workflows.save.mutate({
          id: workflowId,
          body: {
            ...definition,
            ...Object.fromEntries(OPTIONAL_SETTINGS.map((name) => [name, definition[name] ?? null])),
            version: base,
          },
        }),
      async saveLayout(layout) {
        await client.workflows.saveLayout.mutate({ id: workflowId, layout })
      },
      failureOf: errorOf,
    }),
    [client, workflowId],
  )
}

export function loadedOf(workflow: WorkflowDraft): Loaded {
  const { version, publishedVersion, layout, updatedByName } = workflow
  return { version, publishedVersion, layout, definition: definitionOf(workflow), updatedBy: updatedByName }
}
