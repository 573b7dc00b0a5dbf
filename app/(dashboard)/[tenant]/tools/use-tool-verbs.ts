'use client'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { useVerbs } from '../_versioned/use-verbs'

export function useToolVerbs() {
  const trpc = useTRPC()
  const { tools } = useTRPCClient()
  return useVerbs('tool', {
    kind: trpc.tools.pathKey(),
    archive: (id) => tools.archive.mutate({ id }),
    unarchive: (id) => tools.unarchive.mutate({ id }),
    undoArchive: (id) => tools.undoArchive.mutate({ id }),
    duplicate: (id) => tools.duplicate.mutate({ id }),
  })
}
