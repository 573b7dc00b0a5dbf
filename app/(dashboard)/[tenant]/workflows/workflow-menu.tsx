'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Archive, ArchiveRestore, Copy, Download, Ellipsis, Files, FolderOpen, Play, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Link } from '@/app/_ui/link'
import { notifyDone, notifyError } from '@/app/_ui/notify'
import { saveFile } from '@/app/_ui/save-file'
import type { WorkflowListItem } from '@/server/views/workflows/browse'
import { useTenant } from '../tenant-context'
import { DeleteDialog } from './delete-dialog'
import { RunDialog } from './run-dialog'
import { startCurl } from './start-curl'
import { useStartFields } from './use-start-fields'

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
  const refresh = () => queries.invalidateQueries(trpc.workflows.pathFilter())
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
      <Menu position="bottom-end" width={220} opened={opened} onChange={setOpened}>
        <Menu.Target>
          <ActionIcon variant="subtle" color="gray" size={28} aria-label={`Actions for ${item.name}`}>
            <Ellipsis size={18} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item
            component={Link}
            href={path(`/workflows/${item.id}`)}
            leftSection={<FolderOpen size={16} aria-hidden />}
          >
            Open
          </Menu.Item>
          {!archived && may('run:start') && (
            <Menu.Item leftSection={<Play size={16} aria-hidden />} onClick={() => setDialog('run')}>
              Start
            </Menu.Item>
          )}
          {!archived && (
            <Menu.Item
              leftSection={<Copy size={16} aria-hidden />}
              disabled={!fields.data}
              onClick={() => void copyCurl()}
            >
              Copy curl
            </Menu.Item>
          )}
          {may('workflow:write') && (
            <Menu.Item leftSection={<Files size={16} aria-hidden />} onClick={() => duplicate.mutate({ id: item.id })}>
              Duplicate
            </Menu.Item>
          )}
          <Menu.Item leftSection={<Download size={16} aria-hidden />} onClick={() => void download()}>
            Export JSON
          </Menu.Item>
          {may('workflow:publish') && (
            <>
              <Menu.Divider />
              {archived ? (
                <Menu.Item
                  leftSection={<ArchiveRestore size={16} aria-hidden />}
                  onClick={() => restore.mutate({ id: item.id })}
                >
                  Restore
                </Menu.Item>
              ) : (
                <Menu.Item leftSection={<Archive size={16} aria-hidden />} onClick={() => onArchive(item)}>
                  Archive
                </Menu.Item>
              )}
            </>
          )}
          {archived && may('workflow:delete-permanently') && (
            <Menu.Item color="red" leftSection={<Trash2 size={16} aria-hidden />} onClick={() => setDialog('delete')}>
              Delete permanently
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
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
