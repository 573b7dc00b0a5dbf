'use client'
import { Stack, Text } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { useTenant } from '../../tenant-context'
import { ShownOnce } from '../shown-once'

export function KeyShown({ title, value, onClose }: { title: string; value: string; onClose: () => void }) {
  const { id } = useTenant()
  const lines = `API_KEY=${value}\nTENANT_ID=${id}`
  const curl = [
    `curl -s '${window.location.origin}/api/workflows?limit=5'`,
    `-H 'x-api-key: ${value}'`,
    `-H 'x-tenant-id: ${id}'`,
  ].join(' \\\n  ')
  return (
    <ShownOnce title={title} what="key" value={value} onClose={onClose}>
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          For an .env file
        </Text>
        <CodeBlock label="lines for an .env file" text={lines} wrap />
      </Stack>
      <Stack gap={6}>
        <Text size="sm" fw={500}>
          Try it
        </Text>
        <CodeBlock label="curl command" text={curl} wrap />
      </Stack>
    </ShownOnce>
  )
}
