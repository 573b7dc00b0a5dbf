'use client'
import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'
import { startedVersion } from './started-version'

interface Props {
  /** Empty while none is chosen. */
  value: string
  onChange: (workflowId: string) => void
}

/** Chooses the workflow that a schedule or an inbound webhook starts. It is the first field of its dialog. */
export function WorkflowSelect({ value, onChange }: Props) {
  const { data = [] } = useQuery(useTRPC().runs.workflows.queryOptions())
  // An archived one cannot be started.
  const offered = data.filter(({ id, archived }) => !archived || id === value)
  return (
    <NativeSelect
      label="Workflow"
      description={startedVersion(data.find(({ id }) => id === value))}
      withAsterisk
      data={[{ value: '', label: 'Choose a workflow' }, ...offered.map(({ id, name }) => ({ value: id, label: name }))]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  )
}
