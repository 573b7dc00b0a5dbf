'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { useTenant } from '../tenant-context'

interface Agent {
  id: string
  name: string
}

/** What can be done with an agent from outside of it; every list and page follows. */
export function useAgentVerbs() {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const { path } = useTenant()
  const refresh = () => queries.invalidateQueries({ queryKey: trpc.agents.pathKey() })
  const archive = useMutation(trpc.agents.archive.mutationOptions({ onSuccess: refresh }))
  const unarchive = useMutation(trpc.agents.unarchive.mutationOptions({ onSuccess: refresh }))
  const duplicate = useMutation(trpc.agents.duplicate.mutationOptions({ onSuccess: refresh }))
  const restore = ({ id, name }: Agent) =>
    unarchive.mutate(
      { agentId: id },
      {
        onSuccess: () => notifyDone(`${name} is back as a draft.`),
        onError: (error) => notifyError(error, `${name} was not restored`),
      },
    )
  return {
    restore,
    restoring: unarchive.isPending,
    archive: (agent: Agent) =>
      archive.mutate(
        { agentId: agent.id },
        {
          onSuccess: () => notifyUndo(`${agent.name} was archived.`, () => restore(agent)),
          onError: (error) => notifyError(error, `${agent.name} was not archived`),
        },
      ),
    duplicate: ({ id, name }: Agent) =>
      duplicate.mutate(
        { agentId: id },
        {
          onSuccess: (copy) => router.push(path(`/agents/${copy.id}`)),
          onError: (error) => notifyError(error, `${name} was not duplicated`),
        },
      ),
  }
}
