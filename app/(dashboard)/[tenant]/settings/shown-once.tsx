'use client'
import { Alert, Button, Stack } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import type { ReactNode } from 'react'
import { CodeBlock } from '@/app/_ui/code-block'
import { CopyButton } from '@/app/_ui/copy-button'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'

/** A value that is shown only once. A click outside or Escape does not close the dialog. */
export function ShownOnce({
  title,
  what,
  value,
  onClose,
  children,
}: {
  title: string
  /** The value's noun, such as `key`. */
  what: string
  value: string
  onClose: () => void
  /** Example uses, as lines to copy. */
  children: ReactNode
}) {
  return (
    <Dialog onClose={onClose} title={title} size="lg" closes="nothing">
      <Stack>
        <Alert color="yellow" variant="light" icon={<TriangleAlert size={18} aria-hidden />}>
          Copy it now. It is not stored and cannot be shown again.
        </Alert>
        <CodeBlock label={`The ${what}`} text={value} wrap />
        {children}
        <DialogButtons
          beside={
            <CopyButton text={value} label={`Copy the ${what}`}>
              {`Copy the ${what}`}
            </CopyButton>
          }
        >
          <Button onClick={onClose}>I have stored it</Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
