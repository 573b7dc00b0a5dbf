'use client'
import { Button, Menu, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { ChevronDown, OctagonX, Square } from 'lucide-react'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'

type Kind = 'cancel' | 'terminate'

const WORDS = {
  cancel: {
    verb: 'Cancel',
    text: 'A step that is running may finish first, then the workflow’s cleanup path runs. This may take a moment.',
    button: 'Cancel the run',
  },
  terminate: {
    verb: 'Terminate',
    text: 'The run ends immediately, without cleanup. Results of running steps are discarded.',
    button: 'Terminate the run',
  },
} as const

/** Cancel is almost always the right choice. Terminate is in the menu beside it, with its own explanation. */
export function StopActions({ run, onSettled }: { run: RunOverview; onSettled: () => void }) {
  const { may } = useTenant()
  const [asking, setAsking] = useState<Kind | null>(null)
  if (run.endTime || !may('run:cancel')) return null
  return (
    <>
      <Button.Group>
        <Button
          variant="default"
          leftSection={<Square size={15} aria-hidden />}
          disabled={run.cancelling}
          onClick={() => setAsking('cancel')}
        >
          {run.cancelling ? 'Cancelling' : 'Cancel'}
        </Button>
        <Menu position="bottom-end" withinPortal>
          <Menu.Target>
            <Button variant="default" px={8} aria-label="More ways to stop the run">
              <ChevronDown size={16} aria-hidden />
            </Button>
          </Menu.Target>
          <Menu.Dropdown>
            <Menu.Item
              c="var(--mantine-color-error)"
              leftSection={<OctagonX size={16} aria-hidden />}
              onClick={() => setAsking('terminate')}
            >
              Terminate…
            </Menu.Item>
          </Menu.Dropdown>
        </Menu>
      </Button.Group>
      {asking && <StopDialog run={run} kind={asking} onClose={() => setAsking(null)} onSettled={onSettled} />}
    </>
  )
}

function StopDialog({
  run,
  kind,
  onClose,
  onSettled,
}: {
  run: RunOverview
  kind: Kind
  onClose: () => void
  onSettled: () => void
}) {
  const trpc = useTRPC()
  const cache = useQueryClient()
  const [reason, setReason] = useState('')
  const settle = {
    onSuccess: () => {
      // Show it as in progress immediately; the actual state follows.
      const key = trpc.runs.overview.queryKey({ runId: run.runId })
      cache.setQueryData<RunOverview>(key, (now) => (now && !now.endTime ? { ...now, cancelling: true } : now))
      onClose()
      onSettled()
    },
  }
  const cancel = useMutation(trpc.runs.cancel.mutationOptions(settle))
  const terminate = useMutation(trpc.runs.terminate.mutationOptions(settle))
  const act = kind === 'cancel' ? cancel : terminate
  const { verb, text, button } = WORDS[kind]
  const name = run.businessKey === null ? `of “${run.workflowName}”` : `“${run.businessKey}”`
  return (
    <Dialog onClose={onClose} title={`${verb} the run ${name}?`}>
      <form
        onSubmit={(event) => {
          event.preventDefault()
          act.mutate({ runId: run.runId, reason: reason.trim() || null })
        }}
      >
        <Stack>
          <Text size="sm">{text}</Text>
          <Textarea
            label="Reason"
            description="Saved in the run’s history. Optional."
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
            maxLength={1000}
            autosize
            minRows={2}
            maxRows={6}
            data-autofocus
          />
          {act.error && <ErrorState error={act.error} />}
          <DialogButtons>
            <Button variant="default" onClick={onClose}>
              Keep it running
            </Button>
            <Button type="submit" {...(kind === 'terminate' ? { color: 'red.8' } : {})} loading={act.isPending}>
              {button}
            </Button>
          </DialogButtons>
        </Stack>
      </form>
    </Dialog>
  )
}
