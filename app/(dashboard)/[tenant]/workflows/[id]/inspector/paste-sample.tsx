'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import type { Fields } from '@/server/definition/schema'
import { isObject, readJson } from '../model/json-text'
import { inferFields } from './infer-fields'

/** Adds fields to START that a sample has. */
export function PasteSample({ onClose, onAdd }: { onClose: () => void; onAdd: (fields: Fields) => void }) {
  const [text, setText] = useState('{\n  \n}')
  const read = readJson(text)
  const sample = 'value' in read && isObject(read.value) ? read.value : null
  const names = sample ? Object.keys(inferFields(sample)) : []
  return (
    <Dialog onClose={onClose} title="Fields from a sample">
      <Stack>
        <Text size="sm">
          Paste a JSON object like the one a caller sends. Fields that already exist stay as they are.
        </Text>
        <CodeEditor label="Sample" language="json" value={text} onChange={setText} minHeight="8rem" />
        <Text size="sm" role="status">
          {sample ? (names.length === 0 ? 'No fields yet.' : `Fields: ${names.join(', ')}`) : 'Not a JSON object yet.'}
        </Text>
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button disabled={names.length === 0} onClick={() => sample && onAdd(inferFields(sample))}>
            Add fields
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
