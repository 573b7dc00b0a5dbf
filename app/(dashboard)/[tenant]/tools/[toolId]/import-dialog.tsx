'use client'
import { Button, List, Stack, Textarea } from '@mantine/core'
import { TriangleAlert } from 'lucide-react'
import { useState } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { Notice } from '@/app/_ui/notice'
import { type ImportedCall, importCurl } from './import-curl'

/** Imports a curl command without running it. */
export function ImportDialog(props: { opened: boolean; onClose: () => void; onImport: (call: ImportedCall) => void }) {
  return (
    <Dialog opened={props.opened} onClose={props.onClose} title="Import curl" size="lg">
      <ImportForm {...props} />
    </Dialog>
  )
}

function ImportForm({ onClose, onImport }: { onClose: () => void; onImport: (call: ImportedCall) => void }) {
  const [text, setText] = useState('')
  const read = text.trim() === '' ? null : tryImport(text)
  return (
    <Stack>
      <Textarea
        label="Command"
        description="This replaces the request above. Nothing is sent."
        placeholder="curl -s -X POST https://api.example.com/orders -H 'content-type: application/json' -d '{}'"
        autosize
        minRows={6}
        maxRows={16}
        data-autofocus
        value={text}
        onChange={(event) => setText(event.currentTarget.value)}
        error={read && 'problem' in read ? read.problem : null}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: '0.8125rem' } }}
      />
      {read && 'call' in read && read.notes.length > 0 && (
        <Notice tone="warning" icon={TriangleAlert} title="Check these">
          <List size="sm">
            {read.notes.map((note) => (
              <List.Item key={note}>{note}</List.Item>
            ))}
          </List>
        </Notice>
      )}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          Cancel
        </Button>
        <Button
          disabled={read === null || 'problem' in read}
          onClick={() => {
            if (read === null || 'problem' in read) return
            onImport(read.call)
            onClose()
          }}
        >
          Replace request
        </Button>
      </DialogButtons>
    </Stack>
  )
}

function tryImport(text: string) {
  try {
    return importCurl(text)
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'This is not a curl command.' }
  }
}
