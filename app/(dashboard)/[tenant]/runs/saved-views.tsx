'use client'
import { Button, Menu } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { Bookmark, Check, Plus, Trash2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { notifyError } from '@/app/_ui/notify'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useTenant } from '../tenant-context'
import { viewOf } from './run-filter'

const SaveViewDialog = dynamic(
  () => loadDialog(() => import('./save-view-dialog').then((module) => module.SaveViewDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** The user's saved views of the list, and the actions for the current one. */
export function SavedViews({ params, workflowId }: { params: URLSearchParams; workflowId: string | undefined }) {
  const trpc = useTRPC()
  const queries = useQueryClient()
  const router = useRouter()
  const { path } = useTenant()
  const [opened, setOpened] = useState(false)
  const [saving, setSaving] = useState(false)
  const views = useQuery({ ...trpc.members.runViews.queryOptions(), enabled: opened })
  const remove = useMutation(
    trpc.members.deleteRunView.mutationOptions({
      onSuccess: (left) => queries.setQueryData(trpc.members.runViews.queryKey(), left),
      onError: (error) => notifyError(error, 'The view was not deleted'),
    }),
  )
  const query = viewOf(params, workflowId)
  const here = views.data?.find((view) => view.query === query)
  return (
    <>
      <Menu position="bottom-end" width={260} opened={opened} onChange={setOpened}>
        <Menu.Target>
          <Button variant="default" leftSection={<Bookmark size={16} aria-hidden />}>
            Views
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Label>
            {views.data?.length === 0 ? 'Saved filters appear here' : views.error ? 'Could not be read' : 'Your views'}
          </Menu.Label>
          {views.data?.map((view) => (
            <Menu.Item
              key={view.name}
              rightSection={view === here ? <Check size={16} aria-label="on the screen" /> : undefined}
              onClick={() => router.push(path(`/runs?${view.query}`))}
            >
              {view.name}
            </Menu.Item>
          ))}
          <Menu.Divider />
          {here ? (
            <Menu.Item
              leftSection={<Trash2 size={16} aria-hidden />}
              onClick={() => remove.mutate({ name: here.name })}
            >
              Delete “{here.name}”
            </Menu.Item>
          ) : (
            <Menu.Item
              leftSection={<Plus size={16} aria-hidden />}
              disabled={query === ''}
              onClick={() => setSaving(true)}
            >
              {query === '' ? 'Filter the list to save a view' : 'Save these filters…'}
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {saving && <SaveViewDialog query={query} onClose={() => setSaving(false)} />}
    </>
  )
}
