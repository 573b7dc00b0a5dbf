'use client'
import { Button, Stack } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { SecretItem } from '@/server/views/credentials/signing-secrets'
import { LimitFields } from './limit-fields'

/** Changes what a secret's tokens may access, including tokens issued before. */
export function LimitsDialog({ secret, onClose }: { secret: SecretItem; onClose: () => void }) {
  const { id, name, workflowIds, agentIds, ownRuns } = secret
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [limits, setLimits] = useState({ workflowIds, agentIds, ownRuns })
  const save = useMutation(
    trpc.secrets.limit.mutationOptions({
      onSuccess: async () => {
        await queries.invalidateQueries(trpc.secrets.pathFilter())
        onClose()
        notifyDone(`Tokens of ${name} now follow these limits.`)
      },
    }),
  )
  return (
    <Dialog onClose={onClose} title={`Edit the limits of “${name}”`}>
      <Stack>
        <LimitFields limits={limits} onChange={setLimits} />
        {save.error && <ErrorState error={save.error} title="The limits were not saved" />}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button loading={save.isPending} onClick={() => save.mutate({ id, limits })}>
            Save
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
