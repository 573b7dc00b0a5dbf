'use client'
import { Button, Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import { DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import type { JsonObject } from '@/server/definition/json'
import { HIDDEN } from '@/server/definition/sensitive'
import type { RunOverview } from '@/server/views/runs/overview'
import { HiddenNote } from './hidden-note'
import { useRerun } from './use-rerun'

interface Props {
  run: RunOverview
  /** The data to edit, and the JSON to begin with; without it, the data stays as it is. */
  field: { label: string; description: string; text: string } | undefined
  /** The step at which the new run continues; its first step by default. */
  fromStepId?: string
  onClose: () => void
}

/** Starts a new run, with edited data if there is a field for it, and opens it. */
export function AgainForm({ run, field, fromStepId, onClose }: Props) {
  const [text, setText] = useState(field?.text ?? '{}')
  const [problem, setProblem] = useState<string | null>(null)
  const rerun = useRerun(onClose)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const data = readObject(text)
        setProblem(data ? null : 'Must be a JSON object')
        if (data) rerun.mutate({ runId: run.runId, body: { data, ...(fromStepId ? { fromStepId } : {}) } })
      }}
    >
      <Stack>
        {field && (
          <Textarea
            label={field.label}
            description={field.description}
            value={text}
            onChange={(event) => setText(event.currentTarget.value)}
            error={problem}
            autosize
            minRows={6}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            data-autofocus
          />
        )}
        {field?.text.includes(HIDDEN) && <HiddenNote />}
        {rerun.error && <ErrorState error={rerun.error} title="The run was not started" />}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={rerun.isPending}>
            Start run
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}

function readObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}
