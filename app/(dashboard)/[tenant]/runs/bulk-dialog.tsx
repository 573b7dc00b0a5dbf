'use client'
import { Button, Progress, Skeleton, Stack, Text, TextInput } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useTRPC, useTRPCClient } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import { useOnce } from '@/app/_ui/use-once'
import type { RefusedRun } from '@/server/runs/retry-many'
import type { Bulk } from '@/server/views/runs/bulk'
import { RefusedRuns } from './refused-runs'
import { isEveryRun } from './run-filter'

const WORDS = {
  cancel: {
    title: 'Cancel open runs?',
    none: 'No open run matches the filters.',
    what: 'will be asked to stop. A step under way may still finish, and cleanup paths run.',
    did: 'cancelled',
    go: (count: string) => `Cancel ${count}`,
  },
  retry: {
    title: 'Retry failed runs?',
    none: 'No failed run matches the filters, or all of them have been retried or have a parent run.',
    what: 'failed. Each will be retried as a new run that keeps the completed steps. Runs with a parent run are left out.',
    did: 'retried',
    go: (count: string) => `Retry ${count}`,
  },
  rerun: {
    title: 'Run ended runs again?',
    none: 'No ended run matches the filters, or all of them have been run again or have a parent run.',
    what: 'ended. Each will be run again from the first step as a new run, with the same input and version. Runs with a parent run are left out.',
    did: 'run again',
    go: (count: string) => `Run ${count} again`,
  },
}

/** Cancels, retries or reruns every run that matches the filter, after showing their number. */
export function BulkDialog({
  verb,
  filter,
  onClose,
}: {
  verb: Bulk['verb']
  filter: Bulk['filter']
  onClose: () => void
}) {
  const trpc = useTRPC()
  const client = useTRPCClient()
  // Runs that start from now on are not counted.
  const [at] = useState(() => new Date().toISOString())
  const bulk = { verb, filter, at }
  const counted = useQuery({ ...trpc.runs.countBulk.queryOptions(bulk), staleTime: Number.POSITIVE_INFINITY })
  const [reason, setReason] = useState('')
  const [typed, setTyped] = useState('')
  const [state, setState] = useState<'asking' | 'working' | 'over'>('asking')
  const [done, setDone] = useState(0)
  const [refused, setRefused] = useState<RefusedRun[]>([])
  const [error, setError] = useState<unknown>(null)
  const stopped = useRef(false)
  const words = WORDS[verb]

  const once = useOnce()
  async function work() {
    setState('working')
    setError(null)
    let skip = refused
    const searched = counted.data?.searched
    try {
      for (let left = true; left && !stopped.current; ) {
        const sent = {
          ...bulk,
          skip: skip.map(({ runId }) => runId),
          ...(searched ? { searched } : {}),
          ...(reason ? { reason } : {}),
        }
        const answer = await client.runs.bulk.mutate(sent)
        skip = [...skip, ...answer.refused]
        setRefused(skip)
        setDone((before) => before + answer.done)
        left = answer.left && skip.length < 1_000
      }
      setState('over')
      return true
    } catch (failure) {
      setError(failure)
      setState('asking')
      return false
    }
  }
  const close = () => {
    stopped.current = true
    onClose()
  }
  const { data } = counted
  const total = data?.count ?? 0
  const runs = `${total.toLocaleString('en')}${data?.more ? '+' : ''} ${total === 1 && !data?.more ? 'run' : 'runs'}`
  // An empty filter matches every run, so require the number.
  const asksNumber = total > 1 && isEveryRun(filter)
  const ready = !asksNumber || typed.replace(/\D/g, '') === String(total)
  // "Cancel" would be ambiguous beside a button that cancels runs.
  const quiet =
    state === 'working'
      ? 'Stop'
      : state === 'over' || total === 0
        ? 'Close'
        : verb === 'cancel'
          ? 'Keep them'
          : 'Cancel'
  return (
    <Dialog onClose={close} title={words.title}>
      <Stack>
        {counted.error && <ErrorState error={counted.error} onRetry={() => counted.refetch()} />}
        {counted.isPending && <Skeleton height={40} radius="md" />}
        {data && total === 0 && <Text size="sm">{words.none}</Text>}
        {data && total > 0 && state !== 'over' && (
          <>
            <Text size="sm">
              <strong>{runs}</strong> {words.what}
            </Text>
            {asksNumber && (
              <TextInput
                label={`Type ${total} to confirm`}
                description="No filter is set"
                inputMode="numeric"
                autoComplete="off"
                value={typed}
                onChange={(event) => setTyped(event.currentTarget.value)}
                disabled={state === 'working'}
              />
            )}
            {verb === 'cancel' && (
              <TextInput
                label="Reason"
                description="Shown with each run"
                value={reason}
                maxLength={1_000}
                onChange={(event) => setReason(event.currentTarget.value)}
                disabled={state === 'working'}
              />
            )}
          </>
        )}
        {state === 'working' && (
          <Progress value={(100 * (done + refused.length)) / Math.max(1, total)} aria-label="Progress" />
        )}
        {state === 'over' && (
          <Text size="sm" role="status">
            {done.toLocaleString('en')} {done === 1 ? 'run was' : 'runs were'} {words.did}.
          </Text>
        )}
        {refused.length > 0 && <RefusedRuns refused={refused} />}
        {error ? <ErrorState error={error} title="Not all runs were handled" /> : null}
        <DialogButtons>
          <Button variant="default" onClick={close}>
            {quiet}
          </Button>
          {total > 0 && state !== 'over' && (
            <Button
              {...(verb === 'cancel' ? { color: 'red.8' } : {})}
              loading={state === 'working'}
              disabled={!ready}
              onClick={() => {
                once(work).catch(setError)
              }}
            >
              {words.go(runs)}
            </Button>
          )}
        </DialogButtons>
      </Stack>
    </Dialog>
  )
}
