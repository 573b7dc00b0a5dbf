'use client'
import { Button, Group, Skeleton, Stack, Text } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { Pin, PinOff, Play } from 'lucide-react'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeEditor } from '@/app/_ui/code-editor'
import { Time } from '@/app/_ui/time'
import { useOnce } from '@/app/_ui/use-once'
import { rootsOf } from '@/server/definition/roots'
import type { Definition, Step } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { useTenant } from '../../../tenant-context'
import type { SaveNow } from '../actions/screen'
import { entryOf, nameOf } from '../model/definition'
import { isObject, readJson } from '../model/json-text'
import { DraftError } from '../parts/draft-error'
import { onlyNote } from './only-notes'
import { usePinnedData } from './pinned-data'
import styles from './test-panel.module.css'

/** Runs one step of the draft with the last run's data, or with the user's pinned data. */
export function OnlyForm(props: {
  workflowId: string
  definition: Definition
  step: Step
  catalog: Catalog
  save: SaveNow
  onStarted: (run: { runId: string }) => void
}) {
  const { workflowId, definition, step, catalog, save, onStarted } = props
  const trpc = useTRPC()
  const { id: tenantId } = useTenant()
  const names = useMemo(() => [...rootsOf(step)].toSorted(), [step])
  const pinned = usePinnedData(tenantId, workflowId, step.id)
  const last = useQuery({
    ...trpc.runs.stepValues.queryOptions({ workflowId, stepId: step.id, names }),
    placeholderData: (before) => before,
  })
  const [busy, setBusy] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const start = useMutation(trpc.runs.start.mutationOptions())
  const values = useMemo(() => {
    const found = last.data?.values ?? {}
    const missing = names.filter((name) => name !== '_' && !Object.hasOwn(found, name))
    return JSON.stringify({ ...found, ...Object.fromEntries(missing.map((name) => [name, null])) }, null, 2)
  }, [last.data, names])
  const text = pinned.text ?? values

  const once = useOnce()
  async function run() {
    const read = readJson(text.trim() === '' ? '{}' : text)
    const wrong = 'problem' in read ? read.problem : isObject(read.value) ? null : 'The data are an object: { … }'
    setProblem(wrong)
    if ('problem' in read || !isObject(read.value)) return false
    setBusy(true)
    const version = await save().finally(() => setBusy(false))
    if (version === null) {
      setProblem('The draft could not be saved, so the step was not run.')
      return false
    }
    // Reported even if another step is selected meanwhile. The form shows the error.
    const input = { workflowId, data: read.value, version: String(version), part: { only: step.id } }
    await start.mutateAsync(input).then(
      ({ runId }) => onStarted({ runId }),
      () => {},
    )
    return false
  }

  return (
    <Stack gap="sm" component="section" aria-label={`Run only ${nameOf(step)}`}>
      <Text size="sm">
        {nameOf(step)} runs alone, with these data. {onlyNote(entryOf(catalog, step.type))}
      </Text>
      {last.isPending ? (
        <Skeleton height={96} radius="md" />
      ) : (
        <CodeEditor
          label="Data for this step"
          language="json"
          value={text}
          onChange={(next) => {
            if (next !== text) pinned.pin(next)
          }}
          minHeight="5rem"
          maxHeight="16rem"
        />
      )}
      <Source pinned={pinned.text !== null} last={last.data ?? null} names={names} />
      {problem !== null && (
        <Text size="sm" c="var(--mantine-color-error)" role="alert">
          {problem}
        </Text>
      )}
      {start.error && (
        <DraftError error={start.error} title="The step was not run" definition={definition} catalog={catalog} />
      )}
      <Group gap="xs">
        <Button
          loading={busy || start.isPending}
          leftSection={<Play size={16} aria-hidden />}
          onClick={() => void once(run)}
        >
          Run only this step
        </Button>
        {pinned.text === null ? (
          <Button
            variant="default"
            disabled={last.isPending}
            leftSection={<Pin size={16} aria-hidden />}
            onClick={() => pinned.pin(text)}
          >
            Pin these data
          </Button>
        ) : (
          <Button variant="default" leftSection={<PinOff size={16} aria-hidden />} onClick={pinned.unpin}>
            Use the last run’s data
          </Button>
        )}
      </Group>
    </Stack>
  )
}

type Values = { run: { id: string; startTime: string } | null; leftOut: string[] }

function Source({ pinned, last, names }: { pinned: boolean; last: Values | null; names: readonly string[] }) {
  const { path } = useTenant()
  return (
    <p className={styles.source}>
      {pinned ? (
        'Pinned: kept for you, in this browser.'
      ) : names.length === 0 ? (
        'The step refers to no data.'
      ) : last?.run ? (
        <>
          What it had in <a href={path(`/runs/${last.run.id}`)}>the last run that came to it</a>,{' '}
          <Time at={last.run.startTime} />.
        </>
      ) : (
        'No run has come to this step yet. Fill in what it refers to.'
      )}
      {!pinned && last !== null && last.leftOut.length > 0 && ` Too large to be shown: ${last.leftOut.join(', ')}.`}
    </p>
  )
}
