'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyLatest } from '@/app/_ui/notify'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import type { Definition } from '@/server/definition/schema'
import type { Draft as WorkflowDraft } from '@/server/views/workflows/get-draft'
import { useTenant } from '../../../tenant-context'
import { WorkflowTabs } from '../../workflow-tabs'
import { useDraft } from '../draft/use-draft'
import { loadedOf, useDraftServer } from '../draft/use-draft-server'
import { DraftDialogs } from '../editor/draft-dialogs'
import { readOnlyReason } from '../editor/read-only-reason'
import { SaveStateText } from '../editor/save-state'
import { WorkflowPanel } from '../inspector/workflow-panel'

/** The settings of one workflow. They are part of its draft: callers get them with the next version. */
export function SettingsScreen({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  // As in the editor: the draft checks for other people's saves itself.
  const workflow = useQuery({
    ...trpc.workflows.get.queryOptions({ id: workflowId }),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  if (workflow.data) return <Loaded key={workflowId} workflow={workflow.data} />
  return (
    <>
      <PageHeader title="Workflow" back={{ href: path('/workflows'), label: 'Workflows' }} />
      <PageBody narrow>
        {workflow.error ? (
          <ErrorState
            error={workflow.error}
            title="The workflow could not be opened"
            onRetry={() => void workflow.refetch()}
          />
        ) : (
          <Skeleton height={420} radius="md" />
        )}
      </PageBody>
    </>
  )
}

function Loaded({ workflow }: { workflow: WorkflowDraft }) {
  const { id: workflowId } = workflow
  const tenant = useTenant()
  const reason = readOnlyReason(tenant, workflow.status === 'archived')
  const draft = useDraft({
    tenantId: tenant.id,
    workflowId,
    loaded: useMemo(() => loadedOf(workflow), [workflow]),
    server: useDraftServer(workflowId),
    readOnly: reason !== null,
    onMerged: (text) => notifyLatest('merged', text),
  })
  const { history, save } = draft.state
  const { definition } = history.present
  const [resolving, setResolving] = useState(true)
  useEffect(() => {
    if (save.kind === 'conflict') setResolving(true)
  }, [save.kind])
  const redefine = (label: string, command: (definition: Definition) => Definition, target?: string) =>
    draft.change(
      label,
      (before) => {
        const next = command(before.definition)
        return next === before.definition ? before : { ...before, definition: next }
      },
      target,
    )
  return (
    <>
      <PageHeader
        title={definition.name}
        back={{ href: tenant.path('/workflows'), label: 'Workflows' }}
        meta={
          <>
            <WorkflowTabs id={workflowId} here="settings" />
            <span role="status">
              {reason ?? (
                <SaveStateText save={save} onRetry={() => void draft.saveNow()} onConflict={() => setResolving(true)} />
              )}
            </span>
          </>
        }
      />
      <PageBody narrow>
        <WorkflowPanel definition={definition} onRedefine={redefine} readOnly={reason !== null} page />
      </PageBody>
      <DraftDialogs
        workflowId={workflowId}
        draft={draft}
        save={async () => ((await draft.saveNow()) ? draft.getState().base.version : null)}
        onGoTo={() => {}}
        publishing={false}
        onPublishClosed={() => {}}
        resolving={resolving}
        onResolveClosed={() => setResolving(false)}
        readOnly={reason !== null}
      />
    </>
  )
}
