'use client'
import { Button, Group, Text, TextInput } from '@mantine/core'
import { ClipboardPaste } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { Imported } from './[toolId]/import-dialog'
import type { NewTool } from './new-tool'

const ImportDialog = dynamic(
  () => loadDialog(() => import('./[toolId]/import-dialog').then((module) => module.ImportDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** The request of a new tool: its URL, or all of it from a curl command. */
export function NewRequest(props: { tool: NewTool; onChange: (part: Partial<NewTool>) => void; error: string | null }) {
  const { tool, onChange, error } = props
  const [importing, setImporting] = useState(false)
  return (
    <>
      <TextInput
        label="URL"
        description="May use values, such as https://api.example.com/orders/${args.id}"
        required
        inputMode="url"
        value={tool.url}
        onChange={(event) => onChange({ url: event.currentTarget.value })}
        error={error}
      />
      <Group gap="sm">
        <Button
          variant="default"
          size="compact-sm"
          leftSection={<ClipboardPaste size={14} aria-hidden />}
          onClick={() => setImporting(true)}
        >
          Import curl
        </Button>
        {tool.imported && (
          <Text size="sm" c="dimmed">
            {importedText(tool.imported)}
          </Text>
        )}
      </Group>
      {importing && (
        <ImportDialog
          opened
          says="It becomes the request of the tool."
          action="Use request"
          onClose={() => setImporting(false)}
          onImport={(imported) => onChange({ imported, url: imported.call.url })}
        />
      )}
    </>
  )
}

/** The parts of a request that the dialog does not show otherwise. */
function importedText({ call: { method, headers, body } }: Imported): string {
  const count = Object.keys(headers).length
  const parts = [count === 0 ? '' : count === 1 ? '1 header' : `${count} headers`, body === undefined ? '' : 'a body']
  const given = parts.filter(Boolean).join(' and ')
  return given === '' ? method : `${method} with ${given}`
}
