'use client'
import { Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { JsonObject } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import { errorsByField } from '../../inbox/answer/answer-values'
import { DataFields } from '../../workflows/data-fields'
import { firstDraft } from '../../workflows/start-draft'
import { changesInFields, changesInJson, editable, readChanges } from './again-changes'
import { AgainEnd } from './again-end'
import { hiddenFields, hiddenParts } from './again-values'
import { useRerun } from './use-rerun'

interface Props {
  runId: string
  /** The step at which the new run continues. */
  stepId: string
  onClose: () => void
}

/** The run data from before a step, for a new run that continues there. Only changes are sent. */
export function AgainFromForm(props: Props) {
  const trpc = useTRPC()
  const { runId, stepId } = props
  const { data, error, refetch } = useQuery({
    ...trpc.runs.dataAtStep.queryOptions({ runId, stepId }),
    // A refetch must not change edited data, and the next dialog starts with fresh data.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    // The transport's types cannot express "any JSON".
    select: ({ fields, values, leftOut }) => {
      const before = values as unknown as JsonObject
      return { fields: editable(fields as unknown as Fields, before), before, leftOut }
    },
  })
  if (error) return <ErrorState error={error} onRetry={() => refetch()} />
  if (!data) return <Skeleton height={160} radius="md" />
  return <Form {...props} {...data} />
}

function Form(props: Props & { fields: Fields; before: JsonObject; leftOut: string[] }) {
  const { runId, stepId, fields, before, leftOut, onClose } = props
  const [draft, setDraft] = useState(() =>
    Object.keys(fields).length === 0 ? { typed: {}, json: '{}' } : firstDraft(fields, before),
  )
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [problem, setProblem] = useState<string | null>(null)
  const form = useRef<HTMLFormElement>(null)
  // The dialog placed the focus before the fields existed.
  useEffect(() => form.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), [])
  const rerun = useRerun(onClose)
  const once = useOnce()
  function submit(event: FormEvent) {
    event.preventDefault()
    const read = readChanges(fields, draft, before)
    // While JSON is edited, `AgainEnd` explains hidden values.
    const masked = draft.json === null ? hiddenParts(fields, read.changes, before) : {}
    const wrong = { ...masked, ...read.errors }
    setErrors(wrong)
    setProblem(read.problem)
    if (read.problem !== null || Object.keys(wrong).length > 0) return
    const input = { runId, body: { data: read.changes, fromStepId: stepId } }
    const onError = (error: unknown) => setErrors(errorsByField(errorOf(error).details, fields).byField)
    void once(() => succeeds(rerun.mutateAsync(input, { onError })))
  }
  const asFields =
    draft.json === null || Object.keys(fields).length === 0 ? null : changesInFields(fields, draft, before)
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack>
        <DataFields
          fields={fields}
          draft={draft}
          onChange={setDraft}
          errors={errors}
          problem={problem}
          words={WORDS}
          asJson={() => changesInJson(fields, draft, before)}
          asFields={asFields}
          hidden={hiddenFields(fields, before)}
          fileNote={fileNote}
        />
        {leftOut.length > 0 && (
          <Text size="sm" c="dimmed">
            Too large to edit here: {leftOut.join(', ')}. To replace {leftOut.length === 1 ? 'it' : 'one'}, enter JSON.
          </Text>
        )}
        <AgainEnd json={draft.json} rerun={rerun} onClose={onClose} />
      </Stack>
    </form>
  )
}

const WORDS = {
  enter: 'Enter the changes as JSON',
  label: 'Data to change',
  description: 'The fields to replace, as JSON, such as {"amount": 20}. The others stay as they are.',
}

const fileNote = (_field: unknown, given: boolean) =>
  given ? 'The new run gets the same file.' : 'This run had no file here.'
