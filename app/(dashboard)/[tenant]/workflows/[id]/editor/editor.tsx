'use client'
import { useQuery } from '@tanstack/react-query'
import { ReactFlowProvider } from '@xyflow/react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useTenant } from '../../../tenant-context'
import { EditorScreen } from './editor-screen'
import { EditorSkeleton } from './editor-skeleton'
import { useUrlState } from './use-url-state'

/** Loads one workflow and opens its editor. */
export function Editor({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  const urlState = useUrlState()
  const [initial] = useState(urlState)
  // The draft itself checks for other users' saves; this query only loads it.
  const workflow = useQuery({
    ...trpc.workflows.get.queryOptions({ id: workflowId }),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  const error = workflow.data ? catalog.error : workflow.error
  if (workflow.data && catalog.data) {
    return (
      <ReactFlowProvider>
        <EditorScreen key={workflowId} workflow={workflow.data} catalog={catalog.data} initial={initial} />
      </ReactFlowProvider>
    )
  }
  if (!error) return <EditorSkeleton />
  return (
    <>
      <PageHeader title="Workflow" back={{ href: path('/workflows'), label: 'Workflows' }} />
      <PageBody narrow>
        <ErrorState
          error={error}
          title="The workflow could not be opened"
          onRetry={() => void Promise.all([workflow.refetch(), catalog.refetch()])}
        />
      </PageBody>
    </>
  )
}
