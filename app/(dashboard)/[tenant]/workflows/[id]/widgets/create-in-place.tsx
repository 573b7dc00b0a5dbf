'use client'
import { Button } from '@mantine/core'
import { Plus } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { Created } from '../../../_new/create-and-publish'
import { useTenant } from '../../../tenant-context'

export type Kind = 'tool' | 'agent' | 'workflow'

const NewTool = dynamic(
  () => loadDialog(() => import('../../../tools/new-tool-dialog').then((module) => module.NewToolDialog)),
  { ssr: false, loading: WaitingDialog },
)
const NewAgent = dynamic(
  () => loadDialog(() => import('../../../agents/new-agent-dialog').then((module) => module.NewAgentDialog)),
  { ssr: false, loading: WaitingDialog },
)
const NewWorkflow = dynamic(
  () => loadDialog(() => import('../../new-workflow-dialog').then((module) => module.NewWorkflowDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** Creates what a step calls, in a dialog over the editor. */
export function CreateInPlace({ kind, onCreated }: { kind: Kind; onCreated: (created: Created) => void }) {
  const { may } = useTenant()
  const [open, setOpen] = useState(false)
  if (!may(`${kind}:write`)) return null
  const close = () => setOpen(false)
  const use = (created: Created) => {
    close()
    onCreated(created)
  }
  return (
    <>
      <Button
        variant="subtle"
        size="compact-xs"
        ml={-8}
        leftSection={<Plus size={12} aria-hidden />}
        onClick={() => setOpen(true)}
      >
        New {kind}
      </Button>
      {open && kind === 'tool' && <NewTool onClose={close} onCreated={use} />}
      {open && kind === 'agent' && <NewAgent onClose={close} onCreated={use} />}
      {open && kind === 'workflow' && <NewWorkflow begin="blank" onClose={close} onCreated={use} />}
    </>
  )
}
