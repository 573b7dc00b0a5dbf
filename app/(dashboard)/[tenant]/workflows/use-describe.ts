'use client'
import { useMutation, useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import type { Definition } from '@/server/definition/schema'
import type { DraftModel } from '@/server/workflows/describe/models'

/** A description to send. */
export interface Description {
  text: string
  model: DraftModel
  /** The draft to change; null for a new workflow. */
  draft: Definition | null
}

/**
 * Asks a model for a draft; nothing is saved. Closing the page or the dialog ends the call.
 * @param onOffered gets the draft, which can be published
 */
export function useDescribe(onOffered: (definition: Definition) => void) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  const stop = useRef<AbortController>(null)
  const models = useQuery(trpc.workflows.draftModels.queryOptions())
  const ask = useMutation({
    mutationFn: ({ text, model, draft }: Description) => {
      stop.current?.abort()
      stop.current = new AbortController()
      const choice = 'agentId' in model ? { agentId: model.agentId } : { provider: model.provider }
      const input = { text, ...choice, ...(draft ? { definition: { ...draft, limits: draft.limits ?? null } } : {}) }
      return client.workflows.describe.mutate(input, { signal: stop.current.signal })
    },
    onSuccess: (described) => {
      if (described.offered) onOffered(described.definition)
    },
  })
  useEffect(() => () => stop.current?.abort(), [])
  return {
    models,
    ask: ask.mutate,
    /** The call under way. */
    asking: ask.isPending ? { since: ask.submittedAt, model: ask.variables.model } : null,
    /** The reasons why nothing is offered; null without any. */
    refused: ask.data && !ask.data.offered ? ask.data : null,
    error: ask.error,
    onStop() {
      stop.current?.abort()
      ask.reset()
    },
  }
}
