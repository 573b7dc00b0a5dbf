'use client'
import { Button, Radio, Stack, Text } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { KeyShown } from './key-shown'

const HOUR_MS = 3_600_000
const OVERLAPS = [
  { value: '24', label: 'For 24 hours', description: 'Time to give every caller the new key' },
  { value: '1', label: 'For one hour', description: 'When there are few callers to update' },
  {
    value: '0',
    label: 'Not at all',
    description: 'If the old key leaked. Callers still using it get 401 at once',
  },
]

/** Replaces a key with a new one. The old key keeps working for a while. */
export function RotateDialog({ apiKey, onClose }: { apiKey: { id: string; name: string }; onClose: () => void }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const [hours, setHours] = useState('24')
  const rotate = useMutation(
    trpc.keys.rotate.mutationOptions({ onSuccess: () => queries.invalidateQueries(trpc.keys.pathFilter()) }),
  )
  if (rotate.data) return <KeyShown title={`The new key ${apiKey.name}`} value={rotate.data.key} onClose={onClose} />
  return (
    <Dialog onClose={onClose} title={`Rotate ${apiKey.name}`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          rotate.mutate({ id: apiKey.id, graceMs: Number(hours) * HOUR_MS })
        }}
      >
        <Stack>
          <Text size="sm">This creates a new key with the same name and role, and shows its value once.</Text>
          <Radio.Group label="The old key keeps working" value={hours} onChange={setHours}>
            <Stack gap="xs" mt="xs">
              {OVERLAPS.map((overlap) => (
                <Radio key={overlap.value} {...overlap} />
              ))}
            </Stack>
          </Radio.Group>
          {rotate.error && <ErrorState error={rotate.error} title="The key was not rotated" />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={rotate.isPending}>
              Rotate
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
