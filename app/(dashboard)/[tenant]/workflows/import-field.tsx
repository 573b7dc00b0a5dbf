'use client'
import { Button, FileButton, Group, Text } from '@mantine/core'
import { Upload } from 'lucide-react'
import { useId, useState } from 'react'
import { CodeEditor } from '@/app/_ui/code-editor'

const MAX_BYTES = 3_000_000

/** A workflow's JSON, pasted or from a file. */
export function ImportField({
  text,
  onChange,
  problem,
}: {
  text: string
  onChange: (text: string) => void
  problem: string | null
}) {
  const hint = useId()
  const [refused, setRefused] = useState<string | null>(null)
  async function read(file: File | null) {
    if (!file) return
    setRefused(file.size > MAX_BYTES ? 'The file is larger than 3 MB' : null)
    if (file.size <= MAX_BYTES) onChange(await file.text())
  }
  return (
    <div>
      <Group justify="space-between" mb={6}>
        <Text size="sm" fw={500}>
          Definition
        </Text>
        <FileButton onChange={(file) => void read(file)} accept="application/json,.json">
          {(props) => (
            <Button {...props} size="compact-sm" variant="default" leftSection={<Upload size={14} aria-hidden />}>
              Choose a file
            </Button>
          )}
        </FileButton>
      </Group>
      <CodeEditor
        label="Definition"
        language="json"
        value={text}
        onChange={onChange}
        minHeight="10rem"
        maxHeight="20rem"
        describedBy={hint}
      />
      <Text id={hint} size="sm" c={refused || problem ? 'var(--mantine-color-error)' : 'dimmed'} mt={4}>
        {refused ?? problem ?? 'The JSON of a workflow that was exported.'}
      </Text>
    </div>
  )
}
