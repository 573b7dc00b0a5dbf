'use client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { notifyError } from '@/app/_ui/notify'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { Fields } from '@/server/definition/schema'
import { errorsByField } from '../inbox/answer/answer-values'
import { type Entry, firstTyped, readTyped, type Typed } from './start-values'
import { useFileSender, wasCancelled } from './use-file-sender'

/**
 * The state of a form that starts a run, once: its entries and their problems.
 * @param props.version the version to start, unless it is that of a start by API
 */
export function useStart({
  workflowId,
  fields,
  prefill = {},
  version,
  onStarted,
}: {
  workflowId: string
  fields: Fields
  prefill?: Typed
  version?: 'published'
  onStarted: (runId: string) => void
}) {
  const trpc = useTRPC()
  const [typed, setTyped] = useState<Typed>(() => ({ ...firstTyped(fields), ...prefill }))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const start = useMutation(
    trpc.runs.start.mutationOptions({
      onSuccess: ({ runId }) => onStarted(runId),
      onError: (error) => setErrors(errorsByField(errorOf(error).details, fields).byField),
    }),
  )
  const once = useOnce()
  const sender = useFileSender()
  const [unsent, setUnsent] = useState<unknown>(null)
  async function startRun() {
    const { data, errors, files } = readTyped(fields, typed, sender.limit)
    setErrors(errors)
    setUnsent(null)
    if (Object.keys(errors).length > 0) return false
    const sent = await sender.sendFiles(fields, files).catch((error: unknown) => {
      if (!wasCancelled(error)) setUnsent(error)
    })
    if (!sent) return false
    const input = { workflowId, data, ...(version ? { version } : {}), ...sent }
    return succeeds(start.mutateAsync(input))
  }
  return {
    form: {
      fields,
      typed,
      errors,
      onChange: (name: string, value: Entry) => setTyped((before) => ({ ...before, [name]: value })),
    },
    submit: (event: FormEvent) => {
      event.preventDefault()
      once(startRun).catch((error: unknown) => notifyError(error, 'The run was not started'))
    },
    busy: sender.sending !== null || start.isPending || start.isSuccess,
    error: unsent ?? start.error,
    sending: { sending: sender.sending, onCancel: sender.cancel },
  }
}
