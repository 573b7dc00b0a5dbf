'use client'
import { Button, Menu, Text } from '@mantine/core'
import { useMutation } from '@tanstack/react-query'
import { ChevronDown, PencilLine, Repeat, RotateCcw, StepForward } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { notifyError } from '@/app/_ui/notify'
import { loadDialog, WaitingDialog } from '@/app/_ui/part'
import { succeeds, useOnce } from '@/app/_ui/use-once'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'
import { answersMessage, isGone } from './may-retry'

// The form is large, and only an opened dialog needs it.
const AgainInput = dynamic(() => loadDialog(() => import('./again-input').then((module) => module.AgainInput)), {
  loading: WaitingDialog,
})

/** Starts a new run of the same version: with the same input, with another, or from the failed step. */
export function AgainMenu({ run }: { run: RunOverview }) {
  const trpc = useTRPC()
  const router = useRouter()
  const { may, path } = useTenant()
  const [editing, setEditing] = useState(false)
  const go = {
    onSuccess: ({ runId }: { runId: string }) => router.push(path(`/runs/${runId}`)),
    onError: (error: unknown) => notifyError(error, 'The run was not started'),
  }
  const rerun = useMutation(trpc.runs.rerun.mutationOptions(go))
  const retry = useMutation(trpc.runs.retry.mutationOptions(go))
  // A menu's items can be clicked while it fades out.
  const once = useOnce()
  const retries = run.retry && !run.retry.same ? run.retry : null
  const onlyRetries = answersMessage(run)
  if (!may('run:retry') || (onlyRetries && !retries)) return null
  const gone = isGone(run)
  return (
    <>
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Button
            variant="default"
            leftSection={<Repeat size={15} aria-hidden />}
            rightSection={<ChevronDown size={16} aria-hidden />}
            loading={rerun.isPending || retry.isPending}
            disabled={gone}
            title={gone ? 'The workflow is archived or deleted.' : undefined}
          >
            Run again
          </Button>
        </Menu.Target>
        <Menu.Dropdown maw={320}>
          {!onlyRetries && (
            <>
              <Menu.Label>Steps that call other systems will call them again.</Menu.Label>
              <Menu.Item
                leftSection={<RotateCcw size={16} aria-hidden />}
                onClick={() => void once(() => succeeds(rerun.mutateAsync({ runId: run.runId, body: {} })))}
              >
                With the same input
              </Menu.Item>
              <Menu.Item leftSection={<PencilLine size={16} aria-hidden />} onClick={() => setEditing(true)}>
                With another input…
              </Menu.Item>
            </>
          )}
          {retries && (
            <Menu.Item
              leftSection={<StepForward size={16} aria-hidden />}
              onClick={() => void once(() => succeeds(retry.mutateAsync({ runId: run.runId })))}
            >
              {retries.stepId === run.error?.stepId || !run.error?.stepId
                ? 'From the failed step'
                : `From “${retries.stepName}”`}
              <Text size="xs" c="dimmed">
                Completed steps are kept and do not run again.
              </Text>
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {editing && <AgainInput run={run} onClose={() => setEditing(false)} />}
    </>
  )
}
