'use client'
import { Button, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import type { Definition, Fields } from '@/server/definition/schema'
import { useTenant } from '../../../tenant-context'
import { StartForm } from '../../start-form'
import { firstTyped, readTyped, sentFile } from '../../start-values'
import type { GoTo, SaveNow } from '../actions/screen'
import styles from './test-panel.module.css'
import { TestRun } from './test-run'

export interface TestPanelProps {
  workflowId: string
  definition: Definition
  save: SaveNow
  onGoTo: GoTo
}

/** Runs the current draft with values for START and shows the run. */
export function TestPanel({ workflowId, definition, save, onGoTo }: TestPanelProps) {
  const { may, role } = useTenant()
  const [run, setRun] = useState<{ runId: string; version: number } | null>(null)
  // The server has the same rule for drafts of workflows that have a published version.
  if (!may('workflow:write')) {
    return (
      <Text size="sm" c="dimmed" px="md" pb="md">
        To test a draft, you need the role editor or higher. Your role is {role}.
      </Text>
    )
  }
  return (
    <div className={styles.panel}>
      {/* When the fields change, the form starts over. */}
      <TestForm
        key={Object.keys(definition.payload).join()}
        workflowId={workflowId}
        fields={definition.payload}
        save={save}
        onStarted={setRun}
      />
      {run ? (
        <TestRun key={run.runId} runId={run.runId} version={run.version} onGoTo={onGoTo} />
      ) : (
        <Text size="sm" c="dimmed">
          The run appears here, step by step. It is a real run: its steps call real tools and agents.
        </Text>
      )}
    </div>
  )
}

function TestForm(props: {
  workflowId: string
  fields: Fields
  save: TestPanelProps['save']
  onStarted: (run: { runId: string; version: number }) => void
}) {
  const { workflowId, fields, save, onStarted } = props
  const trpc = useTRPC()
  const [typed, setTyped] = useState(() => firstTyped(fields))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [saving, setSaving] = useState(false)
  const [unsaved, setUnsaved] = useState(false)
  const start = useMutation(
    trpc.runs.start.mutationOptions({
      onError: (error) => {
        const named = errorOf(error).details.flatMap(({ path, message }) =>
          path && Object.hasOwn(fields, path) ? [[path, message] as const] : [],
        )
        setErrors(Object.fromEntries(named))
      },
    }),
  )
  async function startRun() {
    const read = readTyped(fields, typed)
    setErrors(read.errors)
    if (Object.keys(read.errors).length > 0) return
    setSaving(true)
    const version = await save().finally(() => setSaving(false))
    setUnsaved(version === null)
    if (version === null) return
    start.mutate(
      { workflowId, data: read.data, version: String(version), ...(await sentFile(read.file)) },
      { onSuccess: ({ runId }) => onStarted({ runId, version }) },
    )
  }
  function submit(event: FormEvent) {
    event.preventDefault()
    void startRun()
  }
  return (
    <form onSubmit={submit} noValidate aria-label="Test run">
      <Stack gap="sm">
        {Object.keys(fields).length === 0 && (
          <Text size="sm" c="dimmed">
            This workflow has no START fields to fill in.
          </Text>
        )}
        <StartForm
          fields={fields}
          typed={typed}
          errors={errors}
          onChange={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
        />
        {unsaved && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            The draft could not be saved, so no run was started.
          </Text>
        )}
        {start.error && <ErrorState error={start.error} title="The run was not started" />}
        <div>
          <Button
            type="submit"
            loading={saving || start.isPending}
            leftSection={<Play size={16} aria-hidden />}
            variant="light"
          >
            Run this draft
          </Button>
        </div>
      </Stack>
    </form>
  )
}
