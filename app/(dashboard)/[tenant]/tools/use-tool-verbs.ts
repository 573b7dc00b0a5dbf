'use client'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { useTenant } from '../tenant-context'

interface Tool {
  id: string
  name: string
}

/** What can be done with a tool from outside of it; every list and page follows. */
export function useToolVerbs() {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const { path } = useTenant()
  const refresh = () => queries.invalidateQueries({ queryKey: trpc.tools.pathKey() })
  const archive = useMutation(trpc.tools.archive.mutationOptions({ onSuccess: refresh }))
  const unarchive = useMutation(trpc.tools.unarchive.mutationOptions({ onSuccess: refresh }))
  const duplicate = useMutation(trpc.tools.duplicate.mutationOptions({ onSuccess: refresh }))
  const restore = ({ id, name }: Tool) =>
    unarchive.mutate(
      { id },
      {
        onSuccess: () => notifyDone(`${name} is back as a draft.`),
        onError: (error) => notifyError(error, `${name} was not restored`),
      },
    )
  return {
    restore,
    restoring: unarchive.isPending,
    archive: (tool: Tool) =>
      archive.mutate(
        { id: tool.id },
        {
          onSuccess: () => notifyUndo(`${tool.name} was archived.`, () => restore(tool)),
          onError: (error) => notifyError(error, `${tool.name} was not archived`),
        },
      ),
    duplicate: ({ id, name }: Tool) =>
      duplicate.mutate(
        { id },
        {
          onSuccess: (copy) => router.push(path(`/tools/${copy.id}`)),
          onError: (error) => notifyError(error, `${name} was not duplicated`),
        },
      ),
  }
}
