'use client'
import { Button, Select, Skeleton, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { useTimeZone } from '@/app/_ui/time-text'
import type { RunItem } from '@/server/views/runs/items'
import type { KeepWorkflowCase as Body } from '@/server/workflows/test-cases'
import { KeepDialog } from '../../../_test-cases/keep-dialog'
import { runLabel } from '../parts/run-label'

/** Saves one of the latest ended runs as a test case. */
export function KeepWorkflowCase(props: {
  workflowId: string
  keep: (body: Body) => Promise<unknown>
  onClose: () => void
}) {
  const { workflowId, keep, onClose } = props
  const trpc = useTRPC()
  const [zone] = useTimeZone()
  const [chosen, setChosen] = useState<RunItem | null>(null)
  const [picked, setPicked] = useState<string | null>(null)
  const list = useQuery({ ...trpc.runs.list.queryOptions({ workflowIds: [workflowId] }), staleTime: 0 })
  const ended = list.data?.runs.filter(({ state }) => state === 'completed' || state === 'failed') ?? []
  const labelOf = (run: RunItem) => runLabel(run, zone)
  if (chosen) {
    return (
      <KeepDialog<Body['expected']>
        onClose={onClose}
        name={chosen.businessKey ?? labelOf(chosen)}
        choices={[
          {
            value: 'same',
            label: chosen.failure ? `Fails with ${chosen.failure.code}, as it did` : 'Ends with the same result',
            expected: { kind: 'same' },
          },
          ...(chosen.failure
            ? []
            : [{ value: 'succeeds', label: 'Succeeds with any result', expected: { kind: 'succeeds' } as const }]),
        ]}
        note="Nothing runs. Results and answers are replayed from this run."
        keep={({ name, expected }) => keep({ name, runId: chosen.runId, expected })}
      />
    )
  }
  return (
    <Dialog onClose={onClose} title="Keep a run as a test case">
      <Stack>
        {list.error && <ErrorState error={list.error} onRetry={() => void list.refetch()} />}
        {list.isPending && <Skeleton height={60} />}
        {list.data && ended.length === 0 && <Text size="sm">No run of this workflow has ended yet.</Text>}
        {ended.length > 0 && (
          <Select
            label="Run"
            description="The latest ones that have ended"
            placeholder="Choose a run"
            data={ended.map((run) => ({ value: run.runId, label: labelOf(run) }))}
            value={picked}
            onChange={setPicked}
            searchable
            data-autofocus
          />
        )}
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
          <Button
            disabled={picked === null}
            onClick={() => setChosen(ended.find(({ runId }) => runId === picked) ?? null)}
          >
            Continue
          </Button>
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
