'use client'
import { Alert, Button, Skeleton, Stack, Text, Textarea } from '@mantine/core'
import { useMutation, useQuery } from '@tanstack/react-query'
import { CircleAlert } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { Dialog, DialogButtons } from '@/app/_ui/dialog'
import { ErrorState } from '@/app/_ui/error-state'
import type { WorkflowChanges } from '@/server/views/workflows/changes'
import type { Problem } from '@/server/workflows/check/problem'
import { PublishCases } from '../../../_test-cases/publish-cases'
import { useTenant } from '../../../tenant-context'
import { useWorkflowsChanged } from '../../use-workflows-changed'
import type { GoTo, SaveNow } from '../actions/screen'
import { Differences } from '../canvas/differences'
import { labelIn } from '../model/definition'
import { withNames } from '../model/problem-names'
import { DiffList } from '../parts/diff-list'
import { DraftError } from '../parts/draft-error'
import { ProblemList } from '../parts/problem-list'
import { FixButton } from '../widgets/fix-button'
import { Callers } from './callers'
import dialog from './dialog.module.css'
import { notifyPublished } from './notify-published'
import { PastRuns } from './past-runs'
import { useCases } from './use-cases'
import { usePastRuns } from './use-past-runs'

export interface PublishDialogProps {
  opened: boolean
  onClose: () => void
  workflowId: string
  name: string
  save: SaveNow
  onPublished: (version: number) => void
  onGoTo: GoTo
}

/** Shows what publishing changes, and the problems that prevent it; then publishes. */
export function PublishDialog(props: PublishDialogProps) {
  const { opened, onClose, name } = props
  return (
    <Dialog opened={opened} onClose={onClose} title={`Publish “${name}”`} size="xl">
      <Publish {...props} />
    </Dialog>
  )
}

function Publish({ workflowId, save, onPublished, onGoTo, onClose }: PublishDialogProps) {
  const trpc = useTRPC()
  const changed = useWorkflowsChanged('lists')
  const { path } = useTenant()
  const saved = useSaved(save)
  const [note, setNote] = useState('')
  const changes = useQuery({
    ...trpc.workflows.changes.queryOptions({ id: workflowId }),
    enabled: saved.state === 'saved',
    staleTime: 0,
    gcTime: 0,
  })
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  const publish = useMutation(
    trpc.workflows.publish.mutationOptions({
      onSuccess: ({ name, version }) => {
        void changed()
        const { to, numbers, running = 0 } = changes.data ?? {}
        const text = `${version === to ? `Version ${numbers?.to} of ${name}` : name} is published.`
        notifyPublished(text, running, path(`/workflows/${workflowId}/versions?view=open-runs`))
        onPublished(version)
        onClose()
      },
      // The changes on screen are outdated.
      onError: (error) => errorOf(error).code === 'VERSION_CONFLICT' && void changes.refetch(),
    }),
  )
  const errorsOf = (all: readonly Problem[]) => all.filter(({ severity }) => severity === 'error').length
  const publishable =
    saved.state === 'saved' && changes.data && errorsOf(changes.data.problems) === 0 ? changes.data.latest : null
  const cases = useCases(workflowId, publishable)
  // A workflow that was never published has no past.
  const hasPast = changes.data?.from != null && !changes.data.live
  const past = usePastRuns(workflowId, hasPast ? publishable : null)
  const anyway =
    (hasPast && !past.isFine) ||
    cases.skipped ||
    cases.error !== null ||
    (cases.results?.some(({ outcome }) => outcome !== 'passed') ?? false)
  if (saved.state === 'failed') {
    return (
      <Stack>
        <Alert color="red" variant="light" role="alert" icon={<CircleAlert size={18} aria-hidden />}>
          The draft could not be saved, so it cannot be published yet. The page header says why.
        </Alert>
        <DialogButtons>
          <Button variant="default" onClick={onClose}>
            Close
          </Button>
          <Button onClick={saved.again}>Try again</Button>
        </DialogButtons>
      </Stack>
    )
  }
  if (changes.error) {
    const again = () => void changes.refetch()
    return <ErrorState error={changes.error} title="The changes could not be loaded" onRetry={again} />
  }
  if (!changes.data) return <Skeleton height={220} radius="md" aria-label="Saving and comparing" role="status" />
  const { from, numbers, latest, live, problems, uses } = changes.data
  const goTo = (problem: Problem) => {
    onClose()
    onGoTo(problem)
  }
  const errors = errorsOf(problems)
  return (
    <Stack>
      <Summary changes={changes.data} />
      <UsedVersions uses={uses} first={from === null} />
      {!live && <Callers workflowId={workflowId} />}
      {problems.length > 0 && (
        <section aria-label="Problems">
          <Text size="sm" fw={500} mb={4}>
            {problemsText(errors, problems.length - errors)}
          </Text>
          <ProblemList
            problems={withNames(problems, changes.data.after, catalog.data)}
            checked
            error={null}
            onGo={goTo}
            definition={changes.data.after}
            catalog={catalog.data}
            action={(problem) => <FixButton problem={problem} onFixed={saved.again} onGo={goTo} />}
          />
        </section>
      )}
      {!live && errors === 0 && (cases.count > 0 || cases.error !== null) && (
        <section aria-label="Test cases">
          <Text size="sm" fw={500} mb={4}>
            Test cases
          </Text>
          <PublishCases {...cases} />
        </section>
      )}
      {hasPast && errors === 0 && catalog.data && (
        <PastRuns runs={past} definitions={changes.data} catalog={catalog.data} />
      )}
      {!live && (
        <Textarea
          label="Note"
          description="What changed, for those who read the history"
          autosize
          minRows={2}
          maxLength={500}
          value={note}
          onChange={(event) => setNote(event.currentTarget.value)}
        />
      )}
      {publish.error && (
        <DraftError
          error={publish.error}
          title="The workflow was not published"
          definition={changes.data.after}
          catalog={catalog.data}
        />
      )}
      <DialogButtons>
        <Button variant="default" onClick={onClose}>
          {live ? 'Close' : 'Cancel'}
        </Button>
        {!live && (
          <Button
            data-autofocus
            disabled={errors > 0 || cases.pending}
            loading={publish.isPending}
            onClick={() => publish.mutate({ id: workflowId, ifMatch: `"${latest}"`, note })}
          >
            Publish v{numbers.to}
            {anyway && ' anyway'}
          </Button>
        )}
      </DialogButtons>
    </Stack>
  )
}

function Summary({ changes }: { changes: WorkflowChanges }) {
  const { from, to, numbers, latest, diff, before, after, layout, authors, running } = changes
  if (from === latest) {
    const since =
      from === to
        ? 'Nothing has changed since then.'
        : `Version ${numbers.to} is the same, but uses the current versions of its tools, agents and workflows.`
    return (
      <Text size="sm">
        Version {numbers.from} is published. {since}
      </Text>
    )
  }
  return (
    <>
      <Text size="sm">
        {from === null
          ? `Version ${numbers.to} of ${after.name} is the first version to be published, so everything is new.`
          : `Version ${numbers.to} of ${after.name} replaces version ${numbers.from}, which is published now.`}{' '}
        {authors.length > 0 && `Changes by ${authors.map(authorText).join(', ')}.`}
      </Text>
      {before ? (
        <Differences
          label={`Changes from version ${numbers.from} to ${numbers.to}`}
          {...{ diff, before, after, layout }}
        />
      ) : (
        <DiffList diff={diff} nameOf={(stepId) => labelIn(stepId, after, before)} />
      )}
      {running > 0 && from !== null && (
        <Text size="sm" c="dimmed">
          {running === 1
            ? '1 run continues on the version it started with. '
            : `${running} runs continue on the versions they started with. `}
          New runs use version {numbers.to}.
        </Text>
      )}
    </>
  )
}

/** The changed versions in use of the published workflow. */
function UsedVersions({ uses, first }: { uses: WorkflowChanges['uses']; first: boolean }) {
  if (uses.length === 0 || first) return null
  return (
    <section aria-label="Versions in use">
      <Text size="sm" fw={500} mb={4}>
        Versions in use
      </Text>
      <ul className={dialog.uses}>
        {uses.map(({ kind, id, name, from, to }) => (
          <li key={`${kind}:${id}:${from}`}>
            {name}: {from === null ? `keeps to version ${to}` : `version ${from} → ${to}`}
          </li>
        ))}
      </ul>
    </section>
  )
}

function authorText({ name, versions }: { name: string; versions: number }): string {
  return versions === 1 ? name : `${name} (saved ${versions} times)`
}

function problemsText(errors: number, warnings: number): string {
  const count = (number: number, word: string) => `${number} ${word}${number === 1 ? '' : 's'}`
  if (errors === 0) return `No errors, ${count(warnings, 'warning')}`
  return `Fix ${count(errors, 'error')} before you publish`
}

/** Saves when the dialog opens, so that the current draft gets published. */
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
