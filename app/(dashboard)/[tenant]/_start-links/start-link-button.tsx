'use client'
import { Button } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { Link2 } from 'lucide-react'
import dynamic from 'next/dynamic'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'

const StartLinkDialog = dynamic(
  () => loadDialog(() => import('./start-link-dialog').then((module) => module.StartLinkDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** Opens the links to a workflow's public form. */
export function StartLinkButton({ workflowId }: { workflowId: string }) {
  const [opened, { open, close }] = useDisclosure()
  return (
    <>
      <Button variant="default" leftSection={<Link2 size={16} aria-hidden />} onClick={open}>
        Public form
      </Button>
      {opened && <StartLinkDialog workflowId={workflowId} onClose={close} />}
    </>
  )
}
