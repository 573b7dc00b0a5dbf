'use client'
import { Select } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { clockTime, useTimeZone } from '@/app/_ui/time-text'
import type { ShownRun, ValuesSource } from '../model/shown-values'
import { runLabel } from '../parts/run-label'

/** How many runs to choose from. */
const RUNS = 20

/** Chooses whose values the form shows: of the newest run, of another one, or samples. */
export function ValuesSourceSelect(props: {
  workflowId: string
  source: ValuesSource
  /** The run that is shown; null without one. */
  run: ShownRun | null
  onChange: (source: ValuesSource) => void
}) {
  const { workflowId, source, run, onChange } = props
  const trpc = useTRPC()
  const [zone] = useTimeZone()
  const [asked, setAsked] = useState(false)
  const list = useQuery({
    ...trpc.runs.list.queryOptions({ workflowIds: [workflowId], limit: RUNS }),
    enabled: asked,
    staleTime: 10_000,
  })
  const newest = run?.reached === false ? 'The newest run' : 'The newest run that came here'
  const label =
    source === 'newest' && run ? `${newest}, ${clockTime(new Date(run.startTime), zone, Date.now())}` : newest
  const runs = (list.data?.runs ?? []).map((run) => ({ value: run.runId, label: runLabel(run, zone) }))
  const known = runs.some(({ value }) => value === source)
  const chosen = source !== 'newest' && source !== 'sample' && !known ? [{ value: source, label: source }] : []
  return (
    <Select
      size="xs"
      mb="xs"
      label="Values of"
      data={[
        { value: 'newest', label },
        { value: 'sample', label: 'Sample values' },
        ...(runs.length + chosen.length > 0 ? [{ group: 'Runs', items: [...chosen, ...runs] }] : []),
      ]}
      value={source}
      onChange={(next) => next !== null && onChange(next)}
      onDropdownOpen={() => setAsked(true)}
      allowDeselect={false}
      comboboxProps={{ withinPortal: true }}
    />
  )
}
