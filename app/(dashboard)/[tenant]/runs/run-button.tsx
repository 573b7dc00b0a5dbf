'use client'
import { Button } from '@mantine/core'
import { Play } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { useTenant } from '../tenant-context'
import { useNamed } from '../workflows/use-workflow-name'

const RunDialog = dynamic(
  () => loadDialog(() => import('../workflows/run-dialog').then((module) => module.RunDialog)),
  { ssr: false, loading: WaitingDialog },
)

/** Starts a workflow's published version, for the roles that may. */
export function RunButton({ workflowId }: { workflowId: string }) {
  const { may } = useTenant()
  const workflow = useNamed(workflowId)
  const [asked, setAsked] = useState(false)
  if (!workflow || workflow.publishedNumber === null || !may('run:start')) return null
  return (
    <>
      <Button leftSection={<Play size={16} aria-hidden />} onClick={() => setAsked(true)}>
        Run
      </Button>
      {asked && <RunDialog workflow={workflow} onClose={() => setAsked(false)} />}
    </>
  )
}
