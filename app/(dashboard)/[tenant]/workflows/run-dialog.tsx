'use client'
import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { Play } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyError } from '@/app/_ui/notify'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { Fields } from '@/server/definition/schema'
import { errorsByField } from '../inbox/answer/answer-values'
import { useTenant } from '../tenant-context'
import { StartForm } from './start-form'
import { firstTyped, readTyped, sentFiles, type Typed } from './start-values'
import { useStartFields } from './use-start-fields'

interface Startable {
  id: string
  name: string
  /** Null if it was never published. */
  publishedNumber: number | null
}

/** Starts a run with values for the START fields, and opens it. */
export function RunDialog({
  workflow,
  prefill = {},
  onClose,
}: {
  workflow: Startable
  /** Initial values by field name. */
  prefill?: Typed
  onClose: () => void
}) {
  const fields = useStartFields(workflow.id)
  const asksNothing = fields.data !== undefined && Object.keys(fields.data).length === 0
  return (
    <Dialog onClose={onClose} title={`Run “${workflow.name}”`} size={asksNothing ? 'md' : 'lg'}>
      {fields.error && <ErrorState error={fields.error} onRetry={() => void fields.refetch()} />}
      {fields.data && <RunForm workflow={workflow} fields={fields.data} prefill={prefill} onClose={onClose} />}
      {fields.isPending && <Skeleton height={120} radius="md" />}
    </Dialog>
  )
}

function RunForm({
  workflow,
  fields,
  prefill,
  onClose,
}: {
  workflow: Startable
  fields: Fields
  prefill: Typed
  onClose: () => void
}) {
  const trpc = useTRPC()
  const router = useRouter()
  const { path } = useTenant()
  const [typed, setTyped] = useState<Typed>(() => ({ ...firstTyped(fields), ...prefill }))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const form = useRef<HTMLFormElement>(null)
  // The dialog placed the focus before the fields existed.
  useEffect(() => form.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), [])
  const start = useMutation(
    trpc.runs.start.mutationOptions({
      onSuccess: ({ runId }) => router.push(path(`/runs/${runId}`)),
      onError: (error) => {
        setErrors(errorsByField(errorOf(error).details, fields).byField)
      },
    }),
  )
  const once = useOnce()
  function submit(event: FormEvent) {
    event.preventDefault()
    once(startRun).catch((error: unknown) => notifyError(error, 'The run was not started'))
  }
  async function startRun() {
    const { data, errors, files } = readTyped(fields, typed)
    setErrors(errors)
    if (Object.keys(errors).length > 0) return false
    const input = { workflowId: workflow.id, data, ...(await sentFiles(fields, files)) }
    return succeeds(start.mutateAsync(input))
  }
  const version = workflow.publishedNumber
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          {version === null
            ? 'This workflow has never been published, so its saved draft runs.'
            : `Version ${version} runs, as it does for API callers.`}
          {Object.keys(fields).length === 0 && ' It needs no input.'}
        </Text>
        {Object.keys(fields).length > 0 && (
          <StartForm
            fields={fields}
            typed={typed}
            errors={errors}
            onChange={(name, value) => setTyped((before) => ({ ...before, [name]: value }))}
          />
        )}
        {start.error && <ErrorState error={start.error} title="The run was not started" />}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            type="submit"
            loading={start.isPending || start.isSuccess}
            leftSection={<Play size={16} aria-hidden />}
          >
            Start run
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}
