'use client'
import { Button, Group, Text } from '@mantine/core'
import { useEffect, useState } from 'react'
import { CodeBlock } from '@/app/_ui/code-block'
import { keep, readKept } from '../../kept'

/** Text typed into a form that someone else answered first. It can be copied until it is discarded. */
export function KeptText({ storageKey }: { storageKey: string }) {
  const [text, setText] = useState<string | null>(null)
  useEffect(() => setText(readable(readKept(storageKey))), [storageKey])
  if (text === null) return null
  return (
    <section aria-label="Your text">
      <Group justify="space-between" mb={4}>
        <Text size="sm">Your text was not sent. It is kept here.</Text>
        <Button
          variant="subtle"
          color="gray"
          size="compact-sm"
          onClick={() => {
            keep(storageKey, null)
            setText(null)
          }}
        >
          Discard
        </Button>
      </Group>
      <CodeBlock text={text} label="what you had typed" wrap />
    </section>
  )
}

function readable(stored: string | null): string | null {
  if (stored === null) return null
  try {
    return JSON.stringify(JSON.parse(stored), null, 2)
  } catch {
    return stored
  }
}
