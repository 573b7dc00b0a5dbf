'use client'
import { Button } from '@mantine/core'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import { answersMessage, isGone } from './may-retry'

const HealDialog = dynamic(() => loadDialog(() => import('../heal-dialog').then((module) => module.HealDialog)), {
  ssr: false,
  loading: WaitingDialog,
})

/** Opens the causes of the workflow's failures, to mend this one for all its runs. */
export function HealButton({ run }: { run: RunOverview }) {
  const { may } = useTenant()
  const [opened, setOpened] = useState(false)
  if (!may('run:retry') || run.state !== 'failed' || answersMessage(run) || isGone(run)) return null
  return (
    <>
      <Button variant="default" size="compact-sm" onClick={() => setOpened(true)}>
        Heal…
      </Button>
      {opened && <HealDialog workflowId={run.workflowId} runId={run.runId} onClose={() => setOpened(false)} />}
    </>
  )
}
