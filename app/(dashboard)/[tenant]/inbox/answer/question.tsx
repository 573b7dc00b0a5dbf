import { Text } from '@mantine/core'
import type { PauseSignal } from '@/server/definition/run'

/** The question, shown above its form. */
export function Question({ signal }: { signal: PauseSignal }) {
  if (!signal.message) return null
  return (
    <Text component="p" m={0} style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {signal.message}
    </Text>
  )
}
