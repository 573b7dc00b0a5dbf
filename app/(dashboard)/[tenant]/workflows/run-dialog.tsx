'use client'
import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { Play } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { SendingFile } from '@/app/_ui/files/sending-file'
import { Link } from '@/app/_ui/link'
import { Locked } from '@/app/_ui/locked'
import type { Fields } from '@/server/definition/schema'
import { useTenant } from '../tenant-context'
import { StartForm } from './start-form'
import type { Typed } from './start-values'
import { useStart } from './use-start'
import { useStartFields } from './use-start-fields'

export interface Startable {
  id: string
  name: string
  /** Null if it was never published. */
  publishedNumber: number | null
}

export interface RunDialogProps {
  workflow: Startable
  /** Initial values by field name. */
  prefill?: Typed
  /** How many changes of the draft are not published. */
  unpublished?: number | undefined
  onClose: () => void
}

/** Starts a run with values for the START fields, and opens it. */
export function RunDialog(props: RunDialogProps) {
  const { workflow, onClose } = props
  const fields = useStartFields(workflow.id)
  const asksNothing = fields.data !== undefined && Object.keys(fields.data).length === 0
  return (
    <Dialog onClose={onClose} title={`Start “${workflow.name}”`} size={asksNothing ? 'md' : 'lg'}>
      {fields.error && <ErrorState error={fields.error} onRetry={() => void fields.refetch()} />}
      {fields.data && <RunForm {...props} fields={fields.data} />}
      {fields.isPending && <Skeleton height={120} radius="md" />}
    </Dialog>
  )
}

function RunForm({ workflow, fields, prefill = {}, unpublished = 0, onClose }: RunDialogProps & { fields: Fields }) {
  const router = useRouter()
  const { path } = useTenant()
  const element = useRef<HTMLFormElement>(null)
  // The dialog placed the focus before the fields existed.
  useEffect(() => element.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), [])
  const { form, submit, busy, error, progress } = useStart({
    workflowId: workflow.id,
    fields,
    prefill,
    onStarted: (runId) => router.push(path(`/runs/${runId}`)),
  })
  return (
    <form ref={element} onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">
          {startedText(workflow.publishedNumber, unpublished)}
          {Object.keys(fields).length === 0 && ' It needs no input.'}
        </Text>
        {Object.keys(fields).length > 0 && (
          <Locked locked={busy}>
            <StartForm {...form} />
          </Locked>
        )}
        {error ? <ErrorState error={error} title="The run was not started" /> : null}
        <SendingFile {...progress} />
        <DialogButtons
          beside={
            workflow.publishedNumber !== null && (
              <Button variant="subtle" component={Link} href={path(`/start/${encodeURIComponent(workflow.id)}`)}>
                Start page
              </Button>
            )
          }
        >
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button type="submit" loading={busy} leftSection={<Play size={16} aria-hidden />}>
            Start run
          </Button>
        </DialogButtons>
      </Stack>
    </form>
  )
}

function startedText(version: number | null, unpublished: number): string {
  if (version === null) return 'This workflow has never been published, so its saved draft runs.'
  const started = `Version ${version} runs, the published one.`
  if (unpublished === 0) return started
  return `${started} ${unpublished === 1 ? 'The unpublished change is' : `The ${unpublished} unpublished changes are`} not part of it.`
}
