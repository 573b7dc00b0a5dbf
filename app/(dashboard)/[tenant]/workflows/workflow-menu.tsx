'use client'
import { Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Archive, ArchiveRestore, Download, Files, FolderOpen, Play, SquareTerminal, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { ForDevelopersRows, RowAction, RowLink, RowMenu } from '@/app/_ui/row-menu'
import { saveFile } from '@/app/_ui/save-file'
import type { WorkflowListItem } from '@/server/views/workflows/browse'
import { useTenant } from '../tenant-context'
import { DeleteDialog } from './delete-dialog'
import { RunDialog } from './lazy-run-dialog'
import { startCurl } from './start-curl'
import { useStartFields } from './use-start-fields'
import { useWorkflowsChanged } from './use-workflows-changed'

/** The actions on one workflow. Actions that the role may not take are left out. */
export function WorkflowMenu({
  item,
  onArchive,
}: {
  item: WorkflowListItem
  onArchive: (item: WorkflowListItem) => void
}) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const { may, path, id: tenantId } = useTenant()
  const [opened, setOpened] = useState(false)
  const [dialog, setDialog] = useState<'run' | 'delete' | null>(null)
  const archived = item.status === 'archived'
  // Fetched when the menu opens, so that copying can happen within the click.
  const fields = useStartFields(item.id, { enabled: opened && !archived })
  const refresh = useWorkflowsChanged()
  const duplicate = useMutation(
    trpc.workflows.duplicate.mutationOptions({
      onSuccess: ({ name }) => notifyDone(`${name} was created as a draft.`),
      onError: (error) => notifyError(error, `${item.name} was not duplicated`),
      onSettled: refresh,
    }),
  )
  const restore = useMutation(
    trpc.workflows.unarchive.mutationOptions({
      onSuccess: () => notifyDone(`${item.name} was restored.`),
      onError: (error) => notifyError(error, `${item.name} is still archived`),
      onSettled: refresh,
    }),
  )
  async function download() {
    try {
      const definition = await queries.fetchQuery(trpc.workflows.exportJson.queryOptions({ id: item.id }))
      saveFile(`${fileName(item.name)}.workflow.json`, `${JSON.stringify(definition, null, 2)}\n`)
    } catch (error) {
      notifyError(error, `${item.name} was not exported`)
    }
  }
  async function copyCurl() {
    if (!fields.data) return
    const text = startCurl({ origin: window.location.origin, tenantId, workflowId: item.id, fields: fields.data })
    await navigator.clipboard.writeText(text)
    notifyDone('Copied the curl command.')
  }
  return (
    <>
      <RowMenu of={item.name} width={220} opened={opened} onChange={setOpened}>
        <RowLink icon={FolderOpen} href={path(`/workflows/${item.id}`)}>
          Open
        </RowLink>
        {!archived && may('run:start') && (
          <RowAction icon={Play} onClick={() => setDialog('run')}>
            Start
          </RowAction>
        )}
        {may('workflow:write') && (
          <RowAction icon={Files} onClick={() => duplicate.mutate({ id: item.id })}>
            Duplicate
          </RowAction>
        )}
        <RowAction icon={Download} onClick={() => void download()}>
          Export JSON
        </RowAction>
        {may('workflow:publish') && (
          <>
            <Menu.Divider />
            {archived ? (
              <RowAction icon={ArchiveRestore} onClick={() => restore.mutate({ id: item.id })}>
                Restore
              </RowAction>
            ) : (
              <RowAction icon={Archive} onClick={() => onArchive(item)}>
                Archive
              </RowAction>
            )}
          </>
        )}
        {archived && may('workflow:delete-permanently') && (
          <RowAction icon={Trash2} destructive onClick={() => setDialog('delete')}>
            Delete permanently
          </RowAction>
        )}
        {!archived && (
          <ForDevelopersRows>
            <RowAction icon={SquareTerminal} disabled={!fields.data} onClick={() => void copyCurl()}>
              Copy as curl
            </RowAction>
          </ForDevelopersRows>
        )}
      </RowMenu>
      {dialog === 'run' && <RunDialog workflow={item} onClose={() => setDialog(null)} />}
      {dialog === 'delete' && <DeleteDialog workflow={item} onClose={() => setDialog(null)} />}
    </>
  )
}

function fileName(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-+|-+$/g, '')
  return plain.slice(0, 60) || 'workflow'
}
