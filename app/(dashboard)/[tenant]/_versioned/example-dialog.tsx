'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import type { JsonObject } from '@/server/definition/json'
import { readObject } from './json'
import styles from './versioned.module.css'

/** Takes an example and makes a schema from it. */
export function ExampleDialog({
  opened,
  onClose,
  onExample,
}: {
  opened: boolean
  onClose: () => void
  onExample: (example: JsonObject) => void
}) {
  const [text, setText] = useState('')
  const read = readObject(text)
  return (
    <Dialog opened={opened} onClose={onClose} title="Generate from example JSON" size="lg">
      <Stack>
        <Text size="sm">Paste an example object. Each of its fields becomes required.</Text>
        <CodeEditor
          label="Example JSON"
          language="json"
          value={text}
          onChange={setText}
          placeholder={'{ "orderId": "A-17", "amount": 42 }'}
          minHeight="10rem"
        />
        {text.trim() !== '' && read.problem !== undefined && <p className={styles.error}>{read.problem}</p>}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            disabled={read.value === undefined}
            onClick={() => {
              if (read.value === undefined) return
              onExample(read.value)
              onClose()
            }}
          >
            Replace the schema
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
