'use client'
import { Button, NativeSelect, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { type FormEvent, useMemo, useState } from 'react'
import { errorOf, useTRPCClient } from '@/app/_trpc/client'
import { SendingFile } from '@/app/_ui/files/sending-file'
import { Locked } from '@/app/_ui/locked'
import { notifyError } from '@/app/_ui/notify'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { JsonObject } from '@/server/definition/json'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { errorsByField } from '../../../inbox/answer/answer-values'
import { StartForm } from '../../start-form'
import { type ChosenFile, type Entry, readTyped, type Typed, typedFor } from '../../start-values'
import { useFileSender } from '../../use-file-sender'
import type { SaveNow } from '../actions/screen'
import { nameOf, stepLabel } from '../model/definition'
import { DraftError } from '../parts/draft-error'
import type { StartedTest } from '../parts/test-state'

interface Test {
  data: JsonObject
  version: string
  part?: { to: string }
}

/** The START fields of a test run, and the step at which it stops. */
export function TestForm(props: {
  workflowId: string
  definition: Definition
  catalog: Catalog
  /** The step to run to; null for the whole draft. */
  to: string | null
  onTo: (stepId: string | null) => void
  typed: Typed
  onType: (name: string, entry: Entry) => void
  save: SaveNow
  onStarted: (run: StartedTest) => void
}) {
  const { workflowId, definition, catalog, to, onTo, onType, save, onStarted } = props
  const { payload: fields, steps } = definition
  const { runs } = useTRPCClient()
  const typed = useMemo(() => typedFor(fields, props.typed), [fields, props.typed])
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [saving, setSaving] = useState(false)
  const [unsaved, setUnsaved] = useState(false)
  const { sender, limit, progress } = useFileSender(typed)
  const start = useMutation({
    // Offline, it fails: it would lock its form until the network is back.
    networkMode: 'always',
    mutationFn: ({ files, ...test }: Test & { files: ChosenFile[] }) =>
      sender.sendWith(fields, files, (parts) => runs.start.mutate({ workflowId, test: true, ...test, ...parts })),
    // Reported even if another panel is open by then.
    onSuccess: (started, { part = null }) => started && onStarted({ runId: started.runId, part }),
    onError: (error) => setErrors(errorsByField(errorOf(error).details, fields).byField),
  })
  async function startRun() {
    const { errors, ...read } = readTyped(fields, typed, limit)
    setErrors(errors)
    start.reset()
    if (Object.keys(errors).length > 0) return false
    setSaving(true)
    const version = await save().finally(() => setSaving(false))
    setUnsaved(version === null)
    if (version === null) return false
    const test = { ...read, version: String(version), ...(to === null ? {} : { part: { to } }) }
    await succeeds(start.mutateAsync(test))
    return false
  }
  const busy = saving || start.isPending
  const once = useOnce()
  function submit(event: FormEvent) {
    event.preventDefault()
    once(startRun).catch((error: unknown) => notifyError(error, 'The run was not started'))
  }
  return (
    <form onSubmit={submit} noValidate aria-label="Test run">
      <Stack gap="sm">
        <Locked locked={busy}>
          {Object.keys(fields).length === 0 && (
            <Text size="sm" c="dimmed">
              This workflow has no START fields to fill in.
            </Text>
          )}
          <StartForm fields={fields} typed={typed} errors={errors} onChange={onType} />
          <NativeSelect
            label="Run to"
            description={
              to === null
                ? undefined
                : 'The run ends after this step. A path that does not lead to it ends where it turns off.'
            }
            value={to ?? ''}
            onChange={(event) => onTo(event.currentTarget.value === '' ? null : event.currentTarget.value)}
            data={[{ value: '', label: 'The end' }, ...steps.map((step) => ({ value: step.id, label: nameOf(step) }))]}
          />
        </Locked>
        {unsaved && (
          <Text size="sm" c="var(--mantine-color-error)" role="alert">
            The draft could not be saved, so no run was started.
          </Text>
        )}
        {start.error && (
          <DraftError error={start.error} title="The run was not started" definition={definition} catalog={catalog} />
        )}
        <SendingFile {...progress} />
        <div>
          <Button type="submit" loading={busy} leftSection={<Play size={16} aria-hidden />}>
            {to === null ? 'Run this draft' : `Run to ${stepLabel(definition, to)}`}
          </Button>
        </div>
      </Stack>
    </form>
  )
}
