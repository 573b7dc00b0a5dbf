import { Button, Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'

const HOUR_MS = 3_600_000

/** Asks how long an old key or signing secret works beside the new one. */
export function RotateCredential(props: {
  noun: 'key' | 'secret'
  name: string
  says: string
  question: string
  /** The descriptions of the choices 24 hours, one hour and none. */
  overlaps: readonly [string, string, string]
  busy: boolean
  error: unknown
  onRotate: (graceMs: number) => void
  onClose: () => void
}) {
  const { noun, name, says, question, overlaps, busy, error, onRotate, onClose } = props
  const [hours, setHours] = useState('24')
  const [day, hour, none] = overlaps
  return (
    <Dialog onClose={onClose} title={`Rotate “${name}”?`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          onRotate(Number(hours) * HOUR_MS)
        }}
      >
        <Stack>
          <Text size="sm">{says}</Text>
          <Radio.Group label={question} value={hours} onChange={setHours}>
            <Stack gap="xs" mt="xs">
              <Radio value="24" label="For 24 hours" description={day} />
              <Radio value="1" label="For one hour" description={hour} />
              <Radio value="0" label="Not at all" description={none} />
            </Stack>
          </Radio.Group>
          {error != null && <ErrorState error={error} title={`The ${noun} was not rotated`} />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={busy}>
              Rotate
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
