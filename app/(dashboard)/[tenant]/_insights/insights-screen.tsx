'use client'
import { SegmentedControl, Skeleton } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { inPlace, loadPart } from '@/app/_ui/part'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../tenant-context'
import { useWorkflowName } from '../workflows/use-workflow-name'
import { WorkflowTabs } from '../workflows/workflow-tabs'
import { Figures } from './figures'
import { PERIODS, periodOf } from './period'

const HeatGraph = dynamic<{ workflowId: string }>(
  () => loadPart(() => import('./heat-graph').then((module) => module.HeatGraph)),
  { ssr: false, loading: inPlace(<Skeleton height={420} radius="md" />) },
)

export function InsightsScreen({ workflowId }: { workflowId?: string }) {
  const trpc = useTRPC()
  const { get, set } = useUrlState()
  const days = periodOf(get('days'))
  const insights = useQuery({
    ...trpc.insights.read.queryOptions({ days, ...(workflowId === undefined ? {} : { workflowId }) }),
    placeholderData: keepPreviousData,
    // Each read counts more of the days that are still uncounted.
    refetchInterval: ({ state }) => (state.data && state.data.uncounted > 0 ? 1_000 : 60_000),
  })
  const period = (
    <SegmentedControl
      aria-label="Period"
      size="xs"
      data={PERIODS}
      value={String(days)}
      onChange={(next) => set({ days: next === '30' ? null : next })}
    />
  )
  return (
    <>
      {workflowId === undefined ? (
        <PageHeader title="Insights" actions={period} />
      ) : (
        <WorkflowHeader workflowId={workflowId} actions={period} />
      )}
      <PageBody>
        {insights.error && <ErrorState error={insights.error} onRetry={() => insights.refetch()} />}
        {insights.data ? (
          <Figures insights={insights.data} ofWorkspace={workflowId === undefined} />
        ) : (
          insights.isPending && <Skeleton height={320} radius="md" />
        )}
        {workflowId !== undefined && insights.data && <HeatGraph workflowId={workflowId} />}
      </PageBody>
    </>
  )
}

function WorkflowHeader({ workflowId, actions }: { workflowId: string; actions: React.ReactNode }) {
  const { path } = useTenant()
  const name = useWorkflowName(workflowId)
  return (
    <PageHeader
      title={name}
      back={{ href: path('/workflows'), label: 'Workflows' }}
      tabs={<WorkflowTabs id={workflowId} here="insights" />}
      actions={actions}
    />
  )
}
