'use client'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListVideo, SearchX } from 'lucide-react'
import { useTRPC } from '@/app/_trpc/client'
import { CodeBlock } from '@/app/_ui/code-block'
import { EmptyState } from '@/app/_ui/empty-state'
import { ForDevelopers } from '@/app/_ui/for-developers'
import { useOrigin } from '../_versioned/curl'
import { useTenant } from '../tenant-context'
import { startCurl } from '../workflows/start-curl'
import { useStartFields } from '../workflows/use-start-fields'
import { VALUE_SEARCH } from './run-filter'

/** Shown before the first run of the workspace or of one workflow: how to start one. New runs appear automatically. */
export function NoRuns({ workflowId }: { workflowId: string | undefined }) {
  const trpc = useTRPC()
  const { id, may } = useTenant()
  const origin = useOrigin()
  const { data } = useQuery({ ...trpc.runs.workflows.queryOptions(), staleTime: 60_000 })
  const workflow = workflowId === undefined ? data?.[0] : data?.find((one) => one.id === workflowId)
  // An archived workflow cannot be started.
  const fields = useStartFields(workflow?.id ?? '', { enabled: workflow !== undefined, retry: false })
  const byHand = (workflow?.publishedNumber ?? null) !== null && may('run:start')
  return (
    <EmptyState icon={ListVideo} title="No runs yet">
      {workflowId === undefined ? (
        <p>
          A run is one execution of a workflow. Start one from the menu of a workflow, or with an API key, and it
          appears here.
        </p>
      ) : (
        <p>
          A run is one execution of this workflow.{' '}
          {byHand ? 'Start one with Start above, or with an API key' : 'Start one with an API key'}, and it appears
          here.
        </p>
      )}
      {workflow && fields.data && (
        <ForDevelopers>
          <CodeBlock
            label="command that starts a run"
            text={startCurl({ origin, tenantId: id, workflowId: workflow.id, fields: fields.data })}
          />
        </ForDevelopers>
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
