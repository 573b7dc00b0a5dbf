'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useTenant } from '../../../tenant-context'
import { WorkflowTabs } from '../../workflow-tabs'
import { definitionOf } from '../model/definition'
import { VersionsPanel } from '../panels/versions-panel'
import { WorkflowCases } from './workflow-cases'

/** The versions and drafts of one workflow, each compared with the draft of now. */
export function VersionsScreen({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  const workflow = useQuery(trpc.workflows.get.queryOptions({ id: workflowId }))
  const { data, error } = workflow
  const definition = useMemo(() => data && definitionOf(data), [data])
  return (
    <>
      <PageHeader
        title={data?.name ?? 'Workflow'}
        back={{ href: path('/workflows'), label: 'Workflows' }}
        meta={<WorkflowTabs id={workflowId} here="versions" />}
      />
      <PageBody>
        {definition ? (
          <>
            <VersionsPanel
              workflowId={workflowId}
              definition={definition}
              // Nothing is edited here; somebody else may have saved meanwhile.
              save={async () => (await workflow.refetch()).data?.version ?? null}
              onRestored={() => void workflow.refetch()}
            />
            <WorkflowCases workflowId={workflowId} definition={definition} />
          </>
        ) : error ? (
          <ErrorState error={error} title="The workflow could not be opened" onRetry={() => void workflow.refetch()} />
        ) : (
          <Skeleton height={240} radius="md" />
        )}
      </PageBody>
    </>
  )
}
