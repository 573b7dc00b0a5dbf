'use client'
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { Task } from '@/server/views/tasks/get'
import { useTenant } from '../tenant-context'

const LinkDialog = dynamic(() => loadDialog(() => import('./link-dialog').then((module) => module.LinkDialog)), {
  loading: WaitingDialog,
})

/** Opens a task's links, for members who may answer it: a link delegates that right. */
export function TaskLinkButton({ task }: { task: Task }) {
  const { may } = useTenant()
  const [opened, { open, close }] = useDisclosure()
  if (task.status !== 'open' || task.people.bar !== null || !may('run:resume')) return null
  return (
    <>
      <Button
        variant="subtle"
        color="gray"
        size="compact-xs"
        leftSection={<Link2 size={14} aria-hidden />}
        onClick={open}
      >
        Share a link
      </Button>
      {opened && <LinkDialog runId={task.runId} pauseId={task.pauseId} onClose={close} />}
    </>
  )
}
