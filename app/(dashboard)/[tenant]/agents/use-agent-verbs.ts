'use client'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useVerbs } from '../_versioned/use-verbs'

export function useAgentVerbs() {
  const trpc = useTRPC()
  const { agents } = useTRPCClient()
  return useVerbs('agent', {
    kind: trpc.agents.pathKey(),
    archive: (agentId) => agents.archive.mutate({ agentId }),
    unarchive: (agentId) => agents.unarchive.mutate({ agentId }),
    undoArchive: (agentId) => agents.undoArchive.mutate({ agentId }),
    duplicate: (agentId) => agents.duplicate.mutate({ agentId }),
  })
}
