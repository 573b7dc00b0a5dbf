'use client'
import { useMutation } from '@tanstack/react-query'
import { type FormEvent, useState } from 'react'
import { errorOf, useTRPCClient } from '@/app/_trpc/client'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { JsonObject } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { errorsByField } from '../inbox/answer/answer-values'
import { type ChosenFile, type Entry, firstTyped, readTyped, type Typed } from './start-values'
import { useFileSender } from './use-file-sender'

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
  const { runs } = useTRPCClient()
  const [typed, setTyped] = useState<Typed>(() => ({ ...firstTyped(fields), ...prefill }))
  const [errors, setErrors] = useState<Record<string, string>>({})
  const { sender, limit, progress } = useFileSender(typed)
  const start = useMutation({
    // Offline, it fails: it would lock its form until the network is back.
    networkMode: 'always',
    mutationFn: ({ data, files }: { data: JsonObject; files: ChosenFile[] }) =>
      sender.sendWith(fields, files, (parts) =>
        runs.start.mutate({ workflowId, data, ...(version ? { version } : {}), ...parts }),
      ),
    onSuccess: (started) => started && onStarted(started.runId),
    onError: (error) => setErrors(errorsByField(errorOf(error).details, fields).byField),
  })
  const once = useOnce()
  async function startRun() {
    const { errors, ...read } = readTyped(fields, typed, limit)
    setErrors(errors)
    start.reset()
    if (Object.keys(errors).length > 0) return false
    return succeeds(start.mutateAsync(read))
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
      void once(startRun)
    },
    busy: start.isPending || Boolean(start.data),
    error: start.error,
    progress,
  }
}
