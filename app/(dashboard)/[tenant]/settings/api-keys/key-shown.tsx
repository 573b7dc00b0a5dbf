'use client'
import { Stack, Text } from '@mantine/core'
import { CodeBlock } from '@/app/_ui/code-block'
import { curl, useOrigin } from '../../_versioned/curl'
import { useTenant } from '../../tenant-context'
import { ShownOnce } from '../shown-once'

export function KeyShown(props: { title: string; value: string; checks: boolean; onClose: () => void }) {
  const { title, value, checks, onClose } = props
  const { id } = useTenant()
  const origin = useOrigin()
  const lines = checks ? `DEFINITIONS_KEY=${value}\nDEFINITIONS_URL=${origin}` : `API_KEY=${value}\nTENANT_ID=${id}`
  const command = checks
    ? 'npm run -s admin -- diff -f definitions --publish --backtest'
    : curl({ origin, tenantId: id, path: '/api/workflows?limit=5', key: value })
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
        <CodeBlock label={checks ? 'command' : 'curl command'} text={command} wrap />
      </Stack>
    </ShownOnce>
  )
}
