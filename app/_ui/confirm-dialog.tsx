'use client'
import { Button, Stack, TextInput } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'

/** Confirms an action, mostly one that cannot be undone. With `typed`, the user must first enter that text. */
export function ConfirmDialog({
  opened,
  onClose,
  onConfirm,
  title,
  confirm,
  busy = false,
  typed,
  harmless = false,
  keep = harmless ? 'Cancel' : 'Keep',
  children,
}: {
  opened: boolean
  onClose: () => void
  onConfirm: () => void
  title: string
  /** The button's label, a verb. */
  confirm: string
  busy?: boolean
  typed?: string
  /** The action loses nothing, so its button is not red. */
  harmless?: boolean
  /** The label of the button that changes nothing. */
  keep?: string
  children: ReactNode
}) {
  const [text, setText] = useState('')
  const ready = typed === undefined || text.trim() === typed
  return (
    <Dialog opened={opened} onClose={onClose} title={title}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          if (ready) onConfirm()
        }}
      >
        <Stack>
          <Stack gap="sm" fz="sm">
            {children}
          </Stack>
          {typed !== undefined && (
            <TextInput
              label={`Type ${typed} to confirm`}
              value={text}
              onChange={(event) => setText(event.currentTarget.value)}
              data-autofocus
            />
          )}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              {keep}
            </Button>
            <Button type="submit" {...(harmless ? {} : { color: 'red.8' })} loading={busy} disabled={!ready}>
              {confirm}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
