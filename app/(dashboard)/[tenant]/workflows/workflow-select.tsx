'use client'
import { NativeSelect } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useTRPC } from '@/app/_trpc/client'

interface Props {
  /** Empty while none is chosen. */
  value: string
  onChange: (workflowId: string) => void
}

/** Chooses the workflow that a schedule or an inbound webhook starts. It is the first field of its dialog. */
export function WorkflowSelect({ value, onChange }: Props) {
  const { data = [] } = useQuery(useTRPC().runs.workflows.queryOptions())
  return (
    <NativeSelect
      label="Workflow"
      description="Its published version is started"
      withAsterisk
      data={[{ value: '', label: 'Choose a workflow' }, ...data.map(({ id, name }) => ({ value: id, label: name }))]}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data-autofocus
    />
  )
}
