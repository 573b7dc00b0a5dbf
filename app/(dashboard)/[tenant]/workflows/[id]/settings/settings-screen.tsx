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
import { usePublished } from '../draft/use-published'
import { DraftDialogs } from '../editor/draft-dialogs'
import { DraftHeader } from '../editor/header'
import { PublishButton } from '../editor/publish-button'
import { readOnlyReason } from '../editor/read-only-reason'
import { SaveStateText } from '../editor/save-state'
import { useGoToEditor } from '../editor/use-go-to-editor'
import { focusField } from '../inspector/focus-field'
import { WorkflowPanel } from '../inspector/workflow-panel'

/** The settings of one workflow. They are part of its draft: callers get them with the next version. */
export function SettingsScreen({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const { path } = useTenant()
  // As in the editor, the draft itself checks for other users' saves.
  const workflow = useQuery({
    ...trpc.workflows.get.queryOptions({ id: workflowId }),
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  if (workflow.data) return <Loaded key={workflowId} workflow={workflow.data} />
  return (
    <>
      <PageHeader
        title="Workflow"
        back={{ href: path('/workflows'), label: 'Workflows' }}
        tabs={<WorkflowTabs id={workflowId} here="settings" />}
      />
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
  const archived = workflow.status === 'archived'
  const reason = readOnlyReason(tenant, archived)
  const draft = useDraft({
    tenantId: tenant.id,
    workflowId,
    loaded: useMemo(() => loadedOf(workflow), [workflow]),
    server: useDraftServer(workflowId),
    readOnly: reason !== null,
    onMerged: (text) => notifyLatest('merged', text),
  })
  const { history, publishedVersion, save } = draft.state
  const { definition } = history.present
  const published = usePublished(workflow, publishedVersion, definition)
  const [publishing, setPublishing] = useState(false)
  const goToEditor = useGoToEditor(workflowId)
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
      <DraftHeader
        id={workflowId}
        here="settings"
        name={definition.name}
        publishedVersion={publishedVersion}
        publishedNumber={published.number}
        unpublished={published.changes}
        archived={archived}
        state={
          reason ?? (
            <SaveStateText save={save} onRetry={() => void draft.saveNow()} onConflict={() => setResolving(true)} />
          )
        }
        actions={!archived && <PublishButton onPublish={() => setPublishing(true)} />}
      />
      <PageBody narrow>
        <WorkflowPanel definition={definition} onRedefine={redefine} readOnly={reason !== null} page />
      </PageBody>
      <DraftDialogs
        workflowId={workflowId}
        draft={draft}
        save={async () => ((await draft.saveNow()) ? draft.getState().base.version : null)}
        onGoTo={(target) => {
          // The workflow's own fields are here; those of steps and START are in the editor.
          if (target.stepId === undefined && !target.field?.startsWith('payload'))
            setTimeout(() => focusField('', target.field), 0)
          else goToEditor(target)
        }}
        publishing={publishing}
        onPublishClosed={() => setPublishing(false)}
        resolving={resolving}
        onResolveClosed={() => setResolving(false)}
        readOnly={reason !== null}
      />
    </>
  )
}
