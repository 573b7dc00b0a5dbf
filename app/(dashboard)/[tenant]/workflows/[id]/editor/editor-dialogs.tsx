'use client'
import { Button, Stack, Text } from '@mantine/core'
import dynamic from 'next/dynamic'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import type { EditorDialog } from '../actions/screen'
import type { ScreenActions } from '../actions/use-editor-actions'
import type { ConnectDialogProps, DisconnectDialogProps, FindDialogProps } from '../dialogs/connect-dialog'
import { CreateDialog } from '../dialogs/create-dialog'
import { ExitPicker } from '../dialogs/exit-picker'
import type { RenameDialogProps } from '../dialogs/rename-dialog'
import { StepPicker } from '../dialogs/step-picker'
import { stepLabel } from '../model/definition'
import { updateStep } from '../model/edit-steps'
import { fragmentOf } from '../model/fragment'

const KeysDialog = dynamic<{ onClose: () => void }>(
  () => loadDialog(() => import('../dialogs/keys-dialog').then((module) => module.KeysDialog)),
  { ssr: false, loading: WaitingDialog },
)

const ConnectDialog = dynamic<ConnectDialogProps>(
  () => loadDialog(() => import('../dialogs/connect-dialog').then((module) => module.ConnectDialog)),
  { ssr: false, loading: WaitingDialog },
)

const DisconnectDialog = dynamic<DisconnectDialogProps>(
  () => loadDialog(() => import('../dialogs/connect-dialog').then((module) => module.DisconnectDialog)),
  { ssr: false, loading: WaitingDialog },
)

const FindDialog = dynamic<FindDialogProps>(
  () => loadDialog(() => import('../dialogs/connect-dialog').then((module) => module.FindDialog)),
  { ssr: false, loading: WaitingDialog },
)

const RenameDialog = dynamic<RenameDialogProps>(
  () => loadDialog(() => import('../dialogs/rename-dialog').then((module) => module.RenameDialog)),
  { ssr: false, loading: WaitingDialog },
)

export function EditorDialogs(props: {
  dialog: EditorDialog | null
  setDialog: (dialog: EditorDialog | null) => void
  definition: Definition
  catalog: Catalog
  actions: ScreenActions
  onRedefine: (label: string, command: (definition: Definition) => Definition) => void
  onFind: (stepId: string) => void
}) {
  const { dialog, setDialog, definition, catalog, actions, onRedefine, onFind } = props
  const close = () => setDialog(null)
  switch (dialog?.kind) {
    case undefined:
    case 'describe':
      return null
    case 'picker': {
      const { insertPoint } = dialog
      return (
        <StepPicker
          catalog={catalog}
          after={insertPoint ? stepLabel(definition, insertPoint.after) : null}
          exit={
            insertPoint && (
              <ExitPicker
                definition={definition}
                catalog={catalog}
                stepId={insertPoint.after}
                exit={insertPoint.exit}
                onExit={(exit) => setDialog({ ...dialog, insertPoint: { ...insertPoint, exit } })}
              />
            )
          }
          onChoose={(type, connected, config) =>
            actions.choose(type, connected ? insertPoint : null, dialog.at, config)
          }
          onClose={close}
        />
      )
    }
    case 'connect':
      return (
        <ConnectDialog
          definition={definition}
          catalog={catalog}
          from={dialog.from}
          exit={dialog.exit}
          onExit={(exit) => setDialog({ ...dialog, exit })}
          onConnect={(to) => actions.connectNow(dialog.from, dialog.exit, to)}
          onRefused={(reason) => actions.announce(reason, true)}
          onClose={close}
        />
      )
    case 'disconnect':
      return (
        <DisconnectDialog
          catalog={catalog}
          definition={definition}
          from={dialog.from}
          onDisconnect={(exit) => {
            actions.disconnect(dialog.from, exit)
            close()
          }}
          onClose={close}
        />
      )
    case 'replace':
      return (
        <Dialog onClose={close} title="Replace the connection?">
          <Stack>
            <Text size="sm">
              {stepLabel(definition, dialog.from)} already leads to {stepLabel(definition, dialog.replaces)}. An exit
              can lead to one step only, so it will lead to {stepLabel(definition, dialog.to)} instead.
            </Text>
            <DialogButtons>
              <Button variant="default" onClick={close}>
                Cancel
              </Button>
              <Button data-autofocus onClick={() => actions.connectNow(dialog.from, dialog.exit, dialog.to)}>
                Replace
              </Button>
            </DialogButtons>
          </Stack>
        </Dialog>
      )
    case 'rename':
      return (
        <RenameDialog
          definition={definition}
          catalog={catalog}
          stepId={dialog.stepId}
          onRename={(name, id) => {
            onRedefine(`rename ${stepLabel(definition, dialog.stepId)}`, (before) =>
              updateStep(before, dialog.stepId, { name: name === '' ? undefined : name }),
            )
            if (id !== dialog.stepId) actions.rename(dialog.stepId, id)
            close()
          }}
          onClose={close}
        />
      )
    case 'create':
      return (
        <CreateDialog
          what={dialog.what}
          onCreated={(created) => {
            close()
            dialog.onCreated(created)
          }}
          onClose={close}
        />
      )
    case 'paste':
      return (
        <Dialog onClose={close} title="Paste a workflow">
          <Stack>
            <Text size="sm">
              The clipboard contains a whole workflow with {dialog.definition.steps.length} steps. You can replace this
              draft with it, or add its steps to this draft.
            </Text>
            <DialogButtons>
              <Button
                variant="default"
                onClick={() => {
                  actions.replaceAll(dialog.definition)
                  close()
                }}
              >
                Replace this draft
              </Button>
              <Button
                onClick={() => {
                  actions.paste(fragmentOf(dialog.definition))
                  close()
                }}
              >
                Add its steps
              </Button>
            </DialogButtons>
          </Stack>
        </Dialog>
      )
    case 'find':
      return (
        <FindDialog
          definition={definition}
          catalog={catalog}
          onFind={(stepId) => {
            close()
            onFind(stepId)
          }}
          onClose={close}
        />
      )
    case 'keys':
      return <KeysDialog onClose={close} />
  }
}
