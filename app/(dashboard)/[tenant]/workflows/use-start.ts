'use client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { notifyError } from '@/app/_ui/notify'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { Fields } from '@/server/definition/schema'
import { errorsByField } from '../inbox/answer/answer-values'
import { type Entry, firstTyped, readTyped, sentFiles, type Typed } from './start-values'

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
  async function startRun() {
    const { data, errors, files } = readTyped(fields, typed)
    setErrors(errors)
    if (Object.keys(errors).length > 0) return false
    const input = { workflowId, data, ...(version ? { version } : {}), ...(await sentFiles(fields, files)) }
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
    busy: start.isPending || start.isSuccess,
    error: start.error,
  }
}
