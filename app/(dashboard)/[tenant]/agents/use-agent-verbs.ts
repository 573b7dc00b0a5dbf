'use client'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useVerbs } from '../_versioned/use-verbs'

export function useAgentVerbs() {
  const trpc = useTRPC()
  const { agents } = useTRPCClient()
  return useVerbs('agent', {
    kind: trpc.agents.pathKey(),
    archive: (id) => agents.archive.mutate({ id }),
    unarchive: (id) => agents.unarchive.mutate({ id }),
    undoArchive: (id) => agents.undoArchive.mutate({ id }),
    duplicate: (id) => agents.duplicate.mutate({ id }),
  })
}
