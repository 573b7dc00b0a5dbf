'use client'
import { Button, Stack, Text } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { CopyButton } from '@/app/_ui/copy-button'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { Time } from '@/app/_ui/time'

export function InvitationLink({
  email,
  token,
  expiresAt,
  onClose,
}: {
  email: string
  token: string
  expiresAt: string
  onClose: () => void
}) {
  const link = `${window.location.origin}/invite/${token}`
  return (
    <Dialog onClose={onClose} title={`Invitation for ${email}`} size="lg" closes="no click">
      <Stack>
        <Text size="sm">
          No email is sent. Give this link to {email} yourself: it works once, until <Time at={expiresAt} absolute />.
          It is not shown again, but you can create a new one at any time.
        </Text>
        <CodeBlock label="The invitation link" text={link} wrap />
        <DialogButtons
          beside={
            <CopyButton text={link} label="Copy the link">
              Copy the link
            </CopyButton>
          }
        >
          <Button onClick={onClose}>Done</Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
