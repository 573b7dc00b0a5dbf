'use client'
import { Button } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { notifyError } from '@/app/_ui/notify'
import { useTenant } from '../tenant-context'

/** Adds the sample workflows, with the tools and agents they call, to the workspace. */
export function AddSamplesButton() {
  const trpc = useTRPC()
  const { may } = useTenant()
  const queries = useQueryClient()
  const add = useMutation(
    trpc.workflows.addSamples.mutationOptions({
      onSuccess: () => queries.invalidateQueries(),
      onError: (error) => notifyError(error, 'The samples were not added'),
    }),
  )
  if (!may('workflow:publish')) return null
  return (
    <Button variant="default" loading={add.isPending} onClick={() => add.mutate()}>
      Add samples
    </Button>
  )
}
