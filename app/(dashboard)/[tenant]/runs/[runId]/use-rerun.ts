import { useMutation } from '@tanstack/react-query'
import { useRouter } from 'next/navigation'
import { useTRPC } from '@/app/_trpc/client'
import { useTenant } from '../../tenant-context'

/** Starts a new run like an earlier one, on the same version, and opens it. */
export function useRerun(onClose: () => void) {
  const trpc = useTRPC()
  const router = useRouter()
  const { path } = useTenant()
  return useMutation(
    trpc.runs.rerun.mutationOptions({
      onSuccess: ({ runId }) => {
        onClose()
        router.push(path(`/runs/${runId}`))
      },
    }),
  )
}
