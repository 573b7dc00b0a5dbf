'use client'
import { Button, Skeleton, Stack, Text } from '@mantine/core'
import { Repeat } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useState } from 'react'
import { Dialog } from '@/app/_ui/dialog'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import { AgainForm } from './again-form'
import { answersMessage, isGone, mayRetry } from './may-retry'

// The form is large, and only an opened dialog needs it.
const AgainFromForm = dynamic(
  () => loadPart(() => import('./again-from-form').then((module) => module.AgainFromForm)),
  { loading: inPlace(<Skeleton height={160} radius="md" />) },
)

/** Starts a new run that continues at a step of this one. Editors may change some of its data. */
export function RunFromHere({ run, stepId, stepName }: { run: RunOverview; stepId: string; stepName: string }) {
  const { may } = useTenant()
  const [open, setOpen] = useState(false)
  if (!may('run:retry') || answersMessage(run)) return null
  // Users who may not change the data have the same button on the failure's card.
  if (!may('workflow:write') && run.retry?.stepId === stepId && mayRetry(run)) return null
  const gone = isGone(run)
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
      <Dialog opened={open} onClose={() => setOpen(false)} title={`Run again from “${stepName}”`} size="lg">
        <Stack>
          <Text size="sm">
            Starts a new run that keeps everything up to the latest visit of this step. This step and those after it run
            again, and call other systems again. This run does not change.
          </Text>
          {may('workflow:write') ? (
            <AgainFromForm runId={run.runId} stepId={stepId} onClose={() => setOpen(false)} />
          ) : (
            <AgainForm run={run} field={undefined} fromStepId={stepId} onClose={() => setOpen(false)} />
          )}
        </Stack>
      </Dialog>
    </>
  )
}
