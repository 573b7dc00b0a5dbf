'use client'
import { SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import dynamic from 'next/dynamic'
import { useEffect, useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { inPlace, loadDialog, loadPart, WaitingDialog } from '@/app/_ui/part'
import { useUrlState } from '@/app/_ui/use-url-state'
import { useTenant } from '../../../tenant-context'
import { WorkflowTabs } from '../../workflow-tabs'
import type { PublishDialogProps } from '../dialogs/publish-dialog'
import { DraftHeader } from '../editor/header'
import { PublishButton } from '../editor/publish-button'
import { useGoToEditor } from '../editor/use-go-to-editor'
import { definitionOf } from '../model/definition'
import { VersionsPanel } from '../panels/versions-panel'
import { historyKey } from '../panels/versions-query'
import type { OpenRunsScreenProps } from './open-runs-screen'
import { WorkflowCases } from './workflow-cases'

const PublishDialog = dynamic<PublishDialogProps>(
  () => loadDialog(() => import('../dialogs/publish-dialog').then((module) => module.PublishDialog)),
  { ssr: false, loading: WaitingDialog },
)

const OpenRunsScreen = dynamic<OpenRunsScreenProps>(
  () => loadPart(() => import('./open-runs-screen').then((module) => module.OpenRunsScreen)),
  { ssr: false, loading: inPlace(<Skeleton height={240} radius="md" />) },
)

const VIEWS = [
  { value: 'history', label: 'History' },
  { value: 'open-runs', label: 'Open runs' },
]

/** The versions and drafts of one workflow, each compared with the current draft. */
export function VersionsScreen({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  const workflow = useQuery(trpc.workflows.get.queryOptions({ id: workflowId }))
  const { data, error } = workflow
  const definition = useMemo(() => data && definitionOf(data), [data])
  const [publishing, setPublishing] = useState(false)
  const goToEditor = useGoToEditor(workflowId)
  const queries = useQueryClient()
  const archived = data?.status === 'archived'
  const { get, set } = useUrlState()
  const view = get('view') === 'open-runs' ? 'open-runs' : 'history'
  // It stays while the page is open: a move can be undone for as long.
  const [opened, setOpened] = useState(false)
  useEffect(() => {
    if (view === 'open-runs') setOpened(true)
  }, [view])
  // Nothing is edited here; another user may have saved meanwhile.
  const current = async () => (await workflow.refetch()).data?.version ?? null
  const published = () => {
    void workflow.refetch()
    void queries.invalidateQueries({ queryKey: historyKey(trpc.workflows.versions, workflowId) })
    void queries.invalidateQueries({ queryKey: trpc.workflows.openRuns.queryKey({ id: workflowId }) })
  }
  return (
    <>
      {data ? (
        <DraftHeader
          id={workflowId}
          here="versions"
          name={data.name}
          publishedVersion={data.publishedVersion}
          publishedNumber={data.publishedNumber}
          unpublished={data.unpublishedChanges}
          archived={archived}
          actions={!archived && <PublishButton onPublish={() => setPublishing(true)} />}
        />
      ) : (
        <PageHeader
          title="Workflow"
          back={{ href: path('/workflows'), label: 'Workflows' }}
          tabs={<WorkflowTabs id={workflowId} here="versions" />}
        />
      )}
      <PageBody>
        {data && definition ? (
          <>
            <SegmentedControl
              aria-label="View"
              data={VIEWS}
              value={view}
              onChange={(value) => set({ view: value === 'history' ? null : value })}
              mb="md"
            />
            {view === 'history' && (
              <>
                <VersionsPanel
                  workflowId={workflowId}
                  definition={definition}
                  layout={data.layout}
                  save={current}
                  onRestored={() => void workflow.refetch()}
                />
                <WorkflowCases workflowId={workflowId} definition={definition} />
              </>
            )}
            {opened && (
              <div hidden={view !== 'open-runs'}>
                <OpenRunsScreen workflowId={workflowId} published={publishedOf(data)} archived={archived} />
              </div>
            )}
          </>
        ) : error ? (
          <ErrorState error={error} title="The workflow could not be opened" onRetry={() => void workflow.refetch()} />
        ) : (
          <Skeleton height={240} radius="md" />
        )}
      </PageBody>
      {publishing && (
        <PublishDialog
          opened
          onClose={() => setPublishing(false)}
          workflowId={workflowId}
          name={data?.name ?? ''}
          save={current}
          onPublished={published}
          onGoTo={goToEditor}
        />
      )}
    </>
  )
}

function publishedOf({
  publishedVersion: version,
  publishedNumber,
}: {
  publishedVersion: number | null
  publishedNumber: number | null
}) {
  return version === null ? null : { version, number: publishedNumber ?? version }
}
