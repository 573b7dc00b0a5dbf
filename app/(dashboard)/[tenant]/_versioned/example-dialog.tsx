'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import type { JsonObject } from '@/server/definition/json'
import { readObject } from './json'
import styles from './versioned.module.css'

/** Takes a sample and makes a schema from it. */
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
    <Dialog opened={opened} onClose={onClose} title="Fields from a sample" size="lg">
      <Stack>
        <Text size="sm">Paste a JSON object. Its fields replace those of the schema, and each becomes required.</Text>
        <CodeEditor
          label="Sample"
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
            Replace the fields
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
