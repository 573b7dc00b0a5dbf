'use client'
import { Button, Group, Text } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { CodeBlock } from '@/app/_ui/code-block'
import { CopyButton } from '@/app/_ui/copy-button'
import { IsoDurationInput } from '@/app/_ui/duration-input'
import { ErrorState } from '@/app/_ui/error-state'
import { Clock } from '@/app/_ui/time'

/** Whose length is fixed. */
const LIVES = ['min', 'h', 'd', 'w'] as const

/** Makes a link, and shows it once. */
export function NewLink({
  made,
  usual,
  help,
  beside,
  busy,
  error,
  onMake,
}: {
  made: { url: string; expiresAt: string } | undefined
  /** How long it works unless the user says so. */
  usual: string
  help: string
  /** Another field, before the others. */
  beside?: ReactNode
  busy: boolean
  error: unknown
  onMake: (expiresIn: string) => void
}) {
  const [expiresIn, setExpiresIn] = useState<string | undefined>(usual)
  return (
    <>
      {made ? (
        <>
          <CodeBlock label="The link" text={made.url} wrap />
          <Group justify="space-between">
            <Text size="sm" c="dimmed">
              It works until <Clock at={made.expiresAt} /> and is not shown again.
            </Text>
            <CopyButton text={made.url} label="Copy the link">
              Copy the link
            </CopyButton>
          </Group>
        </>
      ) : (
        <>
          {beside}
          <Group align="flex-end">
            <IsoDurationInput
              id="works-for"
              label="Works for"
              help={help}
              value={expiresIn}
              unset="d"
              units={LIVES}
              onChange={setExpiresIn}
              readOnly={false}
              autofocus={beside === undefined}
            />
            <Button
              loading={busy}
              disabled={expiresIn === undefined}
              onClick={() => expiresIn !== undefined && onMake(expiresIn)}
            >
              Make a link
            </Button>
          </Group>
        </>
      )}
      {error != null && <ErrorState error={error} title="The link was not made" />}
    </>
  )
}
