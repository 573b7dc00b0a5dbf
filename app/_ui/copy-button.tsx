'use client'
import { ActionIcon, Button, Tooltip } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { Check, Copy } from 'lucide-react'

/** Copies a text and confirms it. With `children` it is a text button, otherwise an icon. */
export function CopyButton({ text, label = 'Copy', children }: { text: string; label?: string; children?: string }) {
  const clipboard = useClipboard({ timeout: 2_000 })
  const Icon = clipboard.copied ? Check : Copy
  if (children) {
    return (
      <Button variant="default" leftSection={<Icon size={16} aria-hidden />} onClick={() => clipboard.copy(text)}>
        {clipboard.copied ? 'Copied' : children}
      </Button>
    )
  }
  return (
    <Tooltip label={clipboard.copied ? 'Copied' : label}>
      <ActionIcon
        variant="subtle"
        color="gray"
        // Stands within a line of text.
        style={{ verticalAlign: 'middle' }}
        aria-label={clipboard.copied ? 'Copied' : label}
        onClick={() => clipboard.copy(text)}
      >
        <Icon size={16} aria-hidden />
      </ActionIcon>
    </Tooltip>
  )
}
