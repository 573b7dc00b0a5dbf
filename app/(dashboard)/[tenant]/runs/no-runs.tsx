'use client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListVideo, SearchX } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { EmptyState } from '@/app/_ui/empty-state'
import { useOrigin } from '../_versioned/curl'
import { useTenant } from '../tenant-context'
import { startCurl } from '../workflows/start-curl'
import { useStartFields } from '../workflows/use-start-fields'
import { VALUE_SEARCH } from './run-filter'

/** Shown before the first run: how to start one. New runs appear by themselves. */
export function NoRuns() {
  const trpc = useTRPC()
  const { id } = useTenant()
  const origin = useOrigin()
  const { data } = useQuery({ ...trpc.runs.workflows.queryOptions(), staleTime: 60_000 })
  const workflow = data?.[0]
  const fields = useStartFields(workflow?.id ?? '', { enabled: workflow !== undefined })
  return (
    <EmptyState icon={ListVideo} title="No runs yet">
      <p>
        A run is one execution of a workflow. Start one from the menu of a workflow, or with an API key, and it appears
        here.
      </p>
      {workflow && fields.data && (
        <CodeBlock
          label="command that starts a run"
          text={startCurl({ origin, tenantId: id, workflowId: workflow.id, fields: fields.data })}
        />
      )}
    </EmptyState>
  )
}

export function NoMatch({ searched, onClear }: { searched: boolean; onClear: () => void }) {
  return (
    <EmptyState
      icon={SearchX}
      title="No runs match"
      actions={
        <Button variant="default" onClick={onClear}>
          Clear filters
        </Button>
      }
    >
      <p>Remove a filter, or choose a longer time range.</p>
      {searched && <p>{VALUE_SEARCH} A text needs at least 3 characters.</p>}
    </EmptyState>
  )
}
