'use client'
import { useMutation } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { notifyError } from '@/app/_ui/notify'
import { notifyUndo } from '@/app/_ui/notify-undo'
import { useWorkflowsChanged } from './use-workflows-changed'

/** Archives a workflow and offers undo for ten seconds. */
export function useArchive(): (workflow: { id: string; name: string }) => void {
  const trpc = useTRPC()
  const refresh = useWorkflowsChanged()
  const undo = useMutation(trpc.workflows.undoArchive.mutationOptions({ onSettled: refresh }))
  const archive = useMutation(trpc.workflows.archive.mutationOptions({ onSettled: refresh }))
  return ({ id, name }) =>
    archive.mutate(
      { id },
      {
        onError: (error) => notifyError(error, `${name} was not archived`),
        onSuccess: () =>
          notifyUndo(`${name} was archived. Open runs finish; new ones do not start.`, () =>
            undo.mutate({ id }, { onError: (error) => notifyError(error, `${name} is still archived`) }),
          ),
      },
    )
}
