'use client'
import { Stack, Text } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { curl, useOrigin } from '../../_versioned/curl'
import { useTenant } from '../../tenant-context'
import { ShownOnce } from '../shown-once'

export function KeyShown({ title, value, onClose }: { title: string; value: string; onClose: () => void }) {
  const { id } = useTenant()
  const lines = `API_KEY=${value}\nTENANT_ID=${id}`
  const command = curl({ origin: useOrigin(), tenantId: id, path: '/api/workflows?limit=5', key: value })
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
        <CodeBlock label="curl command" text={command} wrap />
      </Stack>
    </ShownOnce>
  )
}
