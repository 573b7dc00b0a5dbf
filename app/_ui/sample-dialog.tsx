'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { isJsonObject, type JsonObject } from '@/server/definition/json'
import { parseKeepingDigits } from '@/server/definition/long-numbers'

/** Asks for a sample and derives fields from it. */
export function SampleDialog(props: {
  title: string
  /** Explains what happens to existing fields. */
  says: string
  /** The button's label. */
  action: string
  /** The field names of a sample. */
  namesOf: (sample: JsonObject) => string[]
  onSample: (sample: JsonObject) => void
  onClose: () => void
}) {
  const { title, says, action, namesOf, onSample, onClose } = props
  const [text, setText] = useState('')
  const sample = parsed(text)
  const names = sample ? namesOf(sample) : []
  return (
    <Dialog onClose={onClose} title={title} size="lg">
      <Stack>
        <Text size="sm">Paste a JSON object. {says}</Text>
        <CodeEditor
          label="Sample"
          language="json"
          value={text}
          onChange={setText}
          placeholder={'{ "orderId": "A-17", "amount": 42 }'}
          minHeight="10rem"
        />
        <Text size="sm" role="status">
          {sample && (names.length === 0 ? 'It has no fields yet.' : `Fields: ${names.join(', ')}`)}
          {!sample && text.trim() !== '' && 'This is not a JSON object yet.'}
        </Text>
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={names.length === 0} onClick={() => sample && onSample(sample)}>
            {action}
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}

function parsed(text: string): JsonObject | null {
  try {
    const value = parseKeepingDigits(text)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
