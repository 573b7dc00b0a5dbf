'use client'
import { Stack, Textarea } from '@mantine/core'
import { useState } from 'react'
import type { RunOverview } from '@/server/views/runs/overview'
import { readObject } from '../../_versioned/json'
import { AgainEnd } from './again-end'
import { useRerun } from './use-rerun'

interface Props {
  run: RunOverview
  /** The data to edit, with its initial JSON; without it, the data stays the same. */
  field: { label: string; description: string; text: string } | undefined
  /** The step at which the new run continues; by default its first step. */
  fromStepId?: string
  onClose: () => void
}

/** Starts a new run, with edited data if `field` is set, and opens it. */
export function AgainForm({ run, field, fromStepId, onClose }: Props) {
  const [text, setText] = useState(field?.text ?? '{}')
  const [problem, setProblem] = useState<string | null>(null)
  const rerun = useRerun(onClose)
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const data = readObject(text).value
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
        <AgainEnd json={field?.text} rerun={rerun} onClose={onClose} />
      </Stack>
    </form>
  )
}
