'use client'
import { Alert, Button, Group, Menu, Modal, Skeleton, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { ChevronDown, PencilLine, Repeat, RotateCcw, StepForward } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyError } from '@/app/_ui/notify'
import type { JsonObject } from '@/server/definition/json'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../tenant-context'

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
  if (!may('run:retry')) return null
  const gone = run.workflow === null || run.workflow.status === 'archived'
  const failed = run.endTime !== null && run.state !== 'completed'
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
          <Menu.Label>Steps that call other systems will call them again.</Menu.Label>
          <Menu.Item
            leftSection={<RotateCcw size={16} aria-hidden />}
            onClick={() => rerun.mutate({ runId: run.runId, body: {} })}
          >
            With the same input
          </Menu.Item>
          <Menu.Item leftSection={<PencilLine size={16} aria-hidden />} onClick={() => setEditing(true)}>
            With another input…
          </Menu.Item>
          {failed && (
            <Menu.Item
              leftSection={<StepForward size={16} aria-hidden />}
              onClick={() => retry.mutate({ runId: run.runId })}
            >
              From the failed step
              <Text size="xs" c="dimmed">
                Completed steps are kept and do not run again.
              </Text>
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {editing && <EditInput run={run} onClose={() => setEditing(false)} />}
    </>
  )
}

function EditInput({ run, onClose }: { run: RunOverview; onClose: () => void }) {
  const trpc = useTRPC()
  const before = useQuery(trpc.runs.wholeValue.queryOptions({ of: 'run', runId: run.runId, field: 'input' }))
  return (
    <Modal opened onClose={onClose} title="Run again with another input" size="lg" centered>
      {before.error ? (
        <ErrorState error={before.error} onRetry={() => before.refetch()} />
      ) : before.data ? (
        <InputForm run={run} text={JSON.stringify(before.data.value, null, 2)} onClose={onClose} />
      ) : (
        <Skeleton height={160} radius="md" />
      )}
    </Modal>
  )
}

function InputForm({ run, text: initial, onClose }: { run: RunOverview; text: string; onClose: () => void }) {
  const trpc = useTRPC()
  const router = useRouter()
  const { path } = useTenant()
  const [text, setText] = useState(initial)
  const [problem, setProblem] = useState<string | null>(null)
  const rerun = useMutation(
    trpc.runs.rerun.mutationOptions({
      onSuccess: ({ runId }) => {
        onClose()
        router.push(path(`/runs/${runId}`))
      },
    }),
  )
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        const data = readObject(text)
        setProblem(data ? null : 'Must be a JSON object')
        if (data) rerun.mutate({ runId: run.runId, body: { data } })
      }}
    >
      <Stack>
        <Textarea
          label="Input"
          description={`Version ${run.workflowVersion} of ${run.workflowName}, from its first step`}
          value={text}
          onChange={(event) => setText(event.currentTarget.value)}
          error={problem}
          autosize
          minRows={6}
          maxRows={20}
          spellCheck={false}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
          data-autofocus
        />
        {initial.includes('***') && (
          <Alert color="yellow" variant="light" p="sm">
            Secrets are shown as ***. Put the real values in before you start.
          </Alert>
        )}
        {rerun.error && <ErrorState error={rerun.error} title="The run was not started" />}
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button type="submit" loading={rerun.isPending}>
            Start run
          </Button>
        </Group>
      </Stack>
    </form>
  )
}

function readObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}
