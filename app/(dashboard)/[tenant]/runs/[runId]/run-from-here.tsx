'use client'
import { Button, Stack, Text } from '@mantine/core'
import { Repeat } from 'lucide-react'
import { useState } from 'react'
import { Dialog } from '@/app/_ui/dialog'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import { AgainForm } from './again-form'

const CHANGES = {
  label: 'Data to change',
  description: 'Run data fields to replace, such as {"amount": 20}. Leave {} to change nothing.',
  text: '{}',
}

/** Starts a new run that continues at a step of this one. Editors may change some of its data. */
export function RunFromHere({ run, stepId, stepName }: { run: RunOverview; stepId: string; stepName: string }) {
  const { may } = useTenant()
  const [open, setOpen] = useState(false)
  if (!may('run:retry')) return null
  const gone = run.workflow === null || run.workflow.status === 'archived'
  return (
    <>
      <Button
        variant="default"
        size="compact-sm"
        leftSection={<Repeat size={14} aria-hidden />}
        disabled={gone}
        title={gone ? 'The workflow is archived or deleted.' : undefined}
        onClick={() => setOpen(true)}
      >
        Run again from here
      </Button>
      <Dialog opened={open} onClose={() => setOpen(false)} title={`Run again from ${stepName}`} size="lg">
        <Stack>
          <Text size="sm">
            Starts a new run that keeps everything up to the latest visit of this step. This step and those after it run
            again, and call other systems again. This run does not change.
          </Text>
          <AgainForm
            run={run}
            field={may('workflow:write') ? CHANGES : undefined}
            fromStepId={stepId}
            onClose={() => setOpen(false)}
          />
        </Stack>
      </Dialog>
    </>
  )
}
