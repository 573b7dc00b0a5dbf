'use client'
import { Alert, Button, Group, Modal, Skeleton, Stack, Switch, Text } from '@mantine/core'
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { CodeDiff } from '@/app/_ui/code-diff'
import { ErrorState } from '@/app/_ui/error-state'
import { notifyDone } from '@/app/_ui/notify'
import type { WorkflowChanges } from '@/server/views/workflows/changes'
import dialog from './dialog.module.css'
import { DiffList } from './diff-list'
import { definitionOf } from './model/definition'
import type { PublishDialogProps } from './panels'
import { ProblemsPanel } from './problems-panel'

/** What publishing changes, for whom, and what is broken; and then does it. */
export function PublishDialog(props: PublishDialogProps) {
  const { opened, onClose } = props
  return (
    <Modal opened={opened} onClose={onClose} title="Publish" size="lg">
      <Publish {...props} />
    </Modal>
  )
}

function Publish({ workflowId, save, onPublished, onGoTo, onClose }: PublishDialogProps) {
  const trpc = useTRPC()
  const cache = useQueryClient()
  const saved = useSaved(save)
  const changes = useQuery({
    ...trpc.workflows.changes.queryOptions({ id: workflowId }),
    enabled: saved.state === 'saved',
    staleTime: 0,
    gcTime: 0,
  })
  const publish = useMutation(
    trpc.workflows.publish.mutationOptions({
      onSuccess: ({ name, version }) => {
        void cache.invalidateQueries({ queryKey: trpc.workflows.list.queryKey() })
        notifyDone(`Version ${version} of ${name} is live.`)
        onPublished(version)
        onClose()
      },
      // What is shown is no longer what would go out.
      onError: (error) => errorOf(error).code === 'VERSION_CONFLICT' && void changes.refetch(),
    }),
  )
  if (saved.state === 'failed') {
    return (
      <Stack>
        <Alert color="red" variant="light" role="alert" icon={<CircleAlert size={18} aria-hidden />}>
          The draft could not be saved, so there is nothing to publish yet. The header says why.
        </Alert>
        <Group justify="flex-end">
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button onClick={saved.again}>Try again</Button>
        </Group>
      </Stack>
    )
  }
  if (changes.error) {
    const again = () => void changes.refetch()
    return <ErrorState error={changes.error} title="The changes could not be read" onRetry={again} />
  }
  if (!changes.data) return <Skeleton height={220} radius="md" aria-label="Saving and comparing" role="status" />
  const { from, to, problems } = changes.data
  const errors = problems.filter(({ severity }) => severity === 'error').length
  const done = from === to
  return (
    <Stack>
      <Summary changes={changes.data} />
      {problems.length > 0 && (
        <section aria-label="Problems">
          <Text size="sm" fw={500} mb={4}>
            {problemsText(errors, problems.length - errors)}
          </Text>
          <ProblemsPanel
            problems={problems}
            checked
            error={null}
            onGo={(problem) => {
              onClose()
              onGoTo(problem)
            }}
          />
        </section>
      )}
      {publish.error && <ErrorState error={publish.error} title="It was not published" />}
      <Group justify="flex-end" className={dialog.footer}>
        <Button variant="default" onClick={onClose}>
          {done ? 'Close' : 'Cancel'}
        </Button>
        {!done && (
          <Button
            data-autofocus
            disabled={errors > 0}
            loading={publish.isPending}
            onClick={() => publish.mutate({ id: workflowId, ifMatch: `"${to}"` })}
          >
            Publish v{to}
          </Button>
        )}
      </Group>
    </Stack>
  )
}

function Summary({ changes }: { changes: WorkflowChanges }) {
  const { from, to, diff, before, after, authors, running } = changes
  const [text, setText] = useState(false)
  if (from === to) return <Text size="sm">Version {to} is live and nothing has changed since.</Text>
  return (
    <>
      <Text size="sm">
        {from === null
          ? `v${to} of ${after.name} goes live. Nothing was published before, so every part is new.`
          : `v${from} of ${after.name}, which is live, gives way to v${to}.`}{' '}
        {authors.length > 0 && `Changes by ${authors.map(authorText).join(', ')}.`}
      </Text>
      <DiffList diff={diff} />
      {running > 0 && from !== null && (
        <Text size="sm" c="dimmed">
          {running === 1 ? '1 run goes on' : `${running} runs go on`} with the version it began with. New runs use v{to}
          .
        </Text>
      )}
      {before && (
        <>
          <Switch
            label="Show as JSON"
            checked={text}
            onChange={(event) => setText(event.currentTarget.checked)}
            size="sm"
          />
          {text && <CodeDiff label={`Changes from v${from} to v${to}`} before={textOf(before)} after={textOf(after)} />}
        </>
      )}
    </>
  )
}

function textOf(definition: WorkflowChanges['after']): string {
  return JSON.stringify(definitionOf(definition), null, 2)
}

function authorText({ name, versions }: { name: string; versions: number }): string {
  return versions === 1 ? name : `${name} (${versions} versions)`
}

function problemsText(errors: number, warnings: number): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`
  if (errors === 0) return `No errors, ${count(warnings, 'warning')}`
  return `${count(errors, 'error')} must be mended before it can be published`
}

/** Saves once, when the dialog opens: what is published is what is on the screen. */
function useSaved(save: PublishDialogProps['save']) {
  const [state, setState] = useState<'saving' | 'saved' | 'failed'>('saving')
  const call = useRef(save)
  call.current = save
  const [round, setRound] = useState(0)
  // biome-ignore lint/correctness/useExhaustiveDependencies: again with each round
  useEffect(() => {
    let stale = false
    setState('saving')
    call
      .current()
      .then((version) => !stale && setState(version === null ? 'failed' : 'saved'))
      .catch(() => !stale && setState('failed'))
    return () => {
      stale = true
    }
  }, [round])
  return { state, again: () => setRound((count) => count + 1) }
}
