'use client'
import { Button, Group, Text } from '@mantine/core'
import { ListPlus } from 'lucide-react'
import type { JsonObject } from '@/server/definition/json'
import { withArguments } from './add-arguments'
import { missingArguments } from './tool-arguments'
import type { ToolForm } from './tool-form'

/** Offers the arguments that the tool uses and its schema does not have. */
export function UsedArguments({ form, onSchema }: { form: ToolForm; onSchema: (schema: JsonObject | null) => void }) {
  const missing = missingArguments(form)
  if (missing.length === 0) return null
  return (
    <Group gap="xs">
      <Text size="sm">
        {form.kind === 'script' ? 'The script' : 'The request'} uses{' '}
        <span className="mono">{missing.map(({ name }) => name).join(', ')}</span>.
      </Text>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<ListPlus size={14} aria-hidden />}
        onClick={() => onSchema(withArguments(form.inputSchema, missing, { open: form.kind === 'script' }))}
      >
        {missing.length === 1 ? 'Add the argument' : 'Add the arguments'}
      </Button>
    </Group>
  )
}
