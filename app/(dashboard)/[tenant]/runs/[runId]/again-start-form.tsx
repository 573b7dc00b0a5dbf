'use client'
import { Stack, Text } from '@mantine/core'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { errorOf } from '@/app/_trpc/client'
import { SendingFile } from '@/app/_ui/files/sending-file'
import { Locked } from '@/app/_ui/locked'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import { isFileField } from '@/server/definition/file-fields'
import type { JsonObject } from '@/server/definition/json'
import type { Fields } from '@/server/definition/schema'
import type { RunOverview } from '@/server/views/runs/overview'
import { errorsByField } from '../../inbox/answer/answer-values'
import { StartData } from '../../workflows/start-data'
import { firstDraft, readDraft, type StartDraft } from '../../workflows/start-draft'
import type { Typed } from '../../workflows/start-values'
import { useFileSender } from '../../workflows/use-file-sender'
import { AgainEnd } from './again-end'
import { hiddenFields, hiddenParts } from './again-values'
import { useRerun, type WithFiles } from './use-rerun'

/** The START fields with a run's input, for a new run. */
export function AgainStartForm(props: {
  run: RunOverview
  /** Describes the new run. */
  about: string
  fields: Fields
  before: JsonObject
  onClose: () => void
}) {
  const { run, about, fields, before, onClose } = props
  const [first] = useState(() => firstDraft(fields, before))
  const [draft, setDraft] = useState(first)
  const [errors, setErrors] = useState<Record<string, string>>({})
  const [problem, setProblem] = useState<string | null>(null)
  const form = useRef<HTMLFormElement>(null)
  // The dialog placed the focus before the fields existed.
  useEffect(() => form.current?.querySelector<HTMLElement>('[data-autofocus]')?.focus(), [])
  const rerun = useRerun(onClose)
  const change = (next: StartDraft) => setDraft({ ...next, typed: withFiles(fields, next.typed, first.typed) })
  const once = useOnce()
  const { sender, limit, progress } = useFileSender(draft.typed)
  function submit(event: FormEvent) {
    event.preventDefault()
    void once(startRun)
  }
  async function startRun() {
    const read = readDraft(fields, draft, before, limit)
    // While JSON is edited, `AgainEnd` explains hidden values.
    const masked = draft.json === null ? hiddenParts(fields, read.data, before) : {}
    const wrong = { ...masked, ...read.errors }
    setErrors(wrong)
    setProblem(read.problem)
    rerun.reset()
    if (read.problem !== null || Object.keys(wrong).length > 0) return false
    const withFiles: WithFiles = (call) => sender.sendWith(fields, read.files, call)
    const input = { runId: run.runId, body: { data: read.data }, withFiles }
    const onError = (error: unknown) => setErrors(errorsByField(errorOf(error).details, fields).byField)
    return succeeds(rerun.mutateAsync(input, { onError }))
  }
  return (
    <form ref={form} onSubmit={submit} noValidate>
      <Stack>
        <Text size="sm">{about}</Text>
        <Locked locked={rerun.isPending}>
          <StartData
            fields={fields}
            before={before}
            draft={draft}
            onChange={change}
            errors={errors}
            problem={problem}
            hidden={hiddenFields(fields, before)}
            keptFile="The new run gets the same file, unless you choose another"
          />
        </Locked>
        <SendingFile {...progress} />
        <AgainEnd json={draft.json} rerun={rerun} onClose={onClose} />
      </Stack>
    </form>
  )
}

/** Removing a chosen file restores the earlier one. */
function withFiles(fields: Fields, typed: Typed, first: Typed): Typed {
  const removed = Object.keys(fields).filter((name) => {
    const field = fields[name]
    return field !== undefined && isFileField(field) && typed[name] === ''
  })
  return { ...typed, ...Object.fromEntries(removed.map((name) => [name, first[name] ?? ''])) }
}
