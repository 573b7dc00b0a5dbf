'use client'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useTenant } from '../../../tenant-context'
import type { GoTo, SaveNow } from '../actions/screen'
import type { ConflictDialogProps } from '../dialogs/conflict-dialog'
import type { DescribeDialogProps } from '../dialogs/describe-dialog'
import type { PublishDialogProps } from '../dialogs/publish-dialog'
import type { RestoreDialogProps } from '../dialogs/restore-dialog'
import type { DraftControl } from '../draft/use-draft'

const PublishDialog = dynamic<PublishDialogProps>(
  () => loadDialog(() => import('../dialogs/publish-dialog').then((module) => module.PublishDialog)),
  { ssr: false, loading: WaitingDialog },
)
const ConflictDialog = dynamic<ConflictDialogProps>(
  () => loadDialog(() => import('../dialogs/conflict-dialog').then((module) => module.ConflictDialog)),
  { ssr: false, loading: WaitingDialog },
)
const DescribeDialog = dynamic<DescribeDialogProps>(
  () => loadDialog(() => import('../dialogs/describe-dialog').then((module) => module.DescribeDialog)),
  { ssr: false, loading: WaitingDialog },
)

// Shown only if this device has unsaved changes, so nothing waits for it.
const RestoreDialog = dynamic<RestoreDialogProps>(
  () => loadDialog(() => import('../dialogs/restore-dialog').then((module) => module.RestoreDialog)),
  { ssr: false, loading: () => null },
)

/** The dialogs about the whole draft: publishing or describing it, resolving a conflict, restoring unsaved changes. */
export function DraftDialogs(props: {
  workflowId: string
  draft: DraftControl
  save: SaveNow
  onGoTo: GoTo
  publishing: boolean
  onPublishClosed: () => void
  /** Whether an existing conflict is shown. */
  resolving: boolean
  onResolveClosed: () => void
  /** The dialog that describes the process, while it is open. */
  describing?: Omit<DescribeDialogProps, 'draft'> | null
  readOnly: boolean
}) {
  const {
    workflowId,
    draft,
    save,
    onGoTo,
    publishing,
    onPublishClosed,
    resolving,
    onResolveClosed,
    describing,
    readOnly,
  } = props
  const { path } = useTenant()
  const router = useRouter()
  const { state } = draft
  return (
    <>
      <PublishDialog
        opened={publishing}
        onClose={onPublishClosed}
        workflowId={workflowId}
        name={state.history.present.definition.name}
        save={save}
        onPublished={draft.published}
        onGoTo={onGoTo}
      />
      {state.save.kind === 'conflict' && (
        <ConflictDialog
          opened={resolving}
          onClose={onResolveClosed}
          workflowId={workflowId}
          base={state.base.definition}
          mine={state.history.present.definition}
          theirs={state.save.theirs}
          onResolve={draft.resolve}
          onSavedAsCopy={({ id }) => {
            draft.takeTheirs()
            router.push(path(`/workflows/${encodeURIComponent(id)}`))
          }}
        />
      )}
      {describing && !readOnly && <DescribeDialog {...describing} draft={draft} />}
      {!readOnly && <RestoreDialog draft={draft} />}
    </>
  )
}
