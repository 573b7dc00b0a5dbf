import { useMutation } from '@tanstack/react-query'
import type { inferRouterInputs } from '@trpc/server'
import { useRouter } from 'next/navigation'
import { useTRPCClient } from '@/app/_trpc/client'
import type { AppRouter } from '@/server/trpc/root'
import { useTenant } from '../../tenant-context'
import type { SentParts } from '../../workflows/file-sender'

/** Sends the files of a form, then `call` with them. */
export type WithFiles = <T>(call: (parts: SentParts) => Promise<T>) => Promise<T | null>
type Input = inferRouterInputs<AppRouter>['runs']['rerun']

/**
 * Starts a new run like an earlier one, on the same version, and opens it. `withFiles` sends its files first, and
 * resolves to null if the user cancels that.
 */
export function useRerun(onClose: () => void) {
  const { runs } = useTRPCClient()
  const router = useRouter()
  const { path } = useTenant()
  return useMutation({
    // Offline, it fails: it would lock its form until the network is back.
    networkMode: 'always',
    mutationFn: ({ withFiles = (call) => call({}), ...input }: Input & { withFiles?: WithFiles }) =>
      withFiles((parts) => runs.rerun.mutate({ ...input, ...parts })),
    onSuccess: (started) => {
      if (!started) return
      onClose()
      router.push(path(`/runs/${started.runId}`))
    },
  })
}
