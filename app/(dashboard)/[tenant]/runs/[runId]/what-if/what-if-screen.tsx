'use client'
import { Button, Select, Skeleton } from '@mantine/core'
import { useClipboard } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { Lock } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { useUrlState } from '@/app/_ui/use-url-state'
import type { RunOverview } from '@/server/views/runs/overview'
import { useTenant } from '../../../tenant-context'
import { DiffGraph } from '../../../workflows/[id]/canvas/differences'
import { exitLabel, exitsOf, labelIn } from '../../../workflows/[id]/model/definition'
import { ChangeList } from './change-list'
import { type Changes, countOf, NO_CHANGES } from './changes'
import { linkOf, type Tried, triedIn } from './link'
import { StepSides } from './step-sides'
import { Summary } from './summary'
import { useBoth, useWhatIf, type Version } from './use-what-if'
import styles from './what-if.module.css'

/** One run and how it would go otherwise: with changed values, or on another version. */
export function WhatIfScreen({ runId }: { runId: string }) {
  const trpc = useTRPC()
  const { may, path } = useTenant()
  const { get } = useUrlState()
  const run = useQuery(trpc.runs.overview.queryOptions({ runId }))
  return (
    <>
      <PageHeader
        back={{ href: path(`/runs/${runId}`), label: 'Run' }}
        title="What if"
        meta={run.data && <span>{run.data.workflowName}</span>}
      />
      <PageBody>
        {!may('workflow:simulate') ? (
          <EmptyState icon={Lock} title="Only editors can try changes on a run">
            This page shows what other answers and values would make of a run. Ask an admin for the role Editor.
          </EmptyState>
        ) : run.error ? (
          <ErrorState error={run.error} onRetry={() => void run.refetch()} />
        ) : run.data ? (
          <Trying run={run.data} begin={versionIn(get('version'))} />
        ) : (
          <Skeleton height={480} radius="md" />
        )}
      </PageBody>
    </>
  )
}

const NAMED = [
  { value: 'own', label: 'The version of the run' },
  { value: 'published', label: 'The published version' },
  { value: 'latest', label: 'The draft' },
]

/** The version that the URL names, such as that of a past run in the publish dialog. */
function versionIn(text: string): Version {
  if (/^\d{1,9}$/.test(text)) return Number(text)
  return text === 'published' || text === 'latest' ? text : 'own'
}

function Trying({ run, begin }: { run: RunOverview; begin: Version }) {
  const { runId } = run
  const [version, setVersion] = useState<Version>(begin)
  const [changes, setChanges] = useState<Changes>(NO_CHANGES)
  const [selected, setSelected] = useState<string | null>(null)
  // Only the browser knows this part of the address.
  useEffect(() => {
    const tried = triedIn(window.location.hash)
    if (!tried) return
    setVersion(tried.version)
    setChanges(tried.changes)
  }, [])
  const { loaded, failed } = useBoth(runId, run.workflowId, version)
  const { answer, isBehind } = useWhatIf(runId, version, changes)
  const versions =
    typeof version === 'number' ? [{ value: String(version), label: 'Another version' }, ...NAMED] : NAMED
  return (
    <div className={styles.page}>
      <div className={styles.bar}>
        <Select
          label="Try it on"
          data={versions}
          value={String(version)}
          allowDeselect={false}
          onChange={(value) => value && setVersion(/^\d+$/.test(value) ? Number(value) : (value as Version))}
        />
        <Button variant="default" disabled={countOf(changes) === 0} onClick={() => setChanges(NO_CHANGES)}>
          Undo all changes
        </Button>
        <CopyLink tried={{ version, changes }} />
      </div>
      {failed && <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />}
      {answer.error && (
        <ErrorState error={answer.error} title="This could not be tried" onRetry={() => void answer.refetch()} />
      )}
      {!failed && !(loaded && answer.data) && !answer.error && <Skeleton height={480} radius="md" />}
      {loaded && answer.data && (
        <Both
          {...{ run, version, changes, selected, isBehind }}
          both={loaded}
          answer={answer.data}
          onSelect={setSelected}
          onChange={setChanges}
        />
      )}
    </div>
  )
}

const WAYS = { was: 'in the run', now: 'in the what if' }

/** The address of this page with the changes. Who opens it sees what they may see. */
function CopyLink({ tried }: { tried: Tried }) {
  const hash = linkOf(tried)
  const clipboard = useClipboard({ timeout: 2_000 })
  return (
    <Button
      variant="default"
      disabled={hash === null}
      title={hash === null ? 'The changes are too long for a link.' : undefined}
      onClick={() => clipboard.copy(`${window.location.origin}${window.location.pathname}${hash}`)}
    >
      {clipboard.copied ? 'Copied' : 'Copy link'}
    </Button>
  )
}

interface BothProps {
  run: RunOverview
  both: NonNullable<ReturnType<typeof useBoth>['loaded']>
  answer: NonNullable<ReturnType<typeof useWhatIf>['answer']['data']>
  changes: Changes
  selected: string | null
  isBehind: boolean
  onSelect: (stepId: string | null) => void
  onChange: (changes: Changes) => void
}

function Both({ run, both, answer, changes, selected, isBehind, onSelect, onChange }: BothProps) {
  const { before, after, layout, catalog } = both
  const words = {
    step: (stepId: string) => labelIn(stepId, after, before),
    exit: (stepId: string, exit: string) =>
      exitLabel([...exitsOf(after, catalog, stepId), ...exitsOf(before, catalog, stepId)], exit),
  }
  const walked = (visits: typeof answer.real.visits) =>
    visits.map(({ place: { branch, stepId }, exit }) => ({ branch, stepId, exit }))
  return (
    <>
      <Summary {...{ run, answer, words, isBehind }} onOpen={onSelect} />
      <ChangeList {...{ changes, words, onChange }} onOpen={onSelect} />
      <div className={styles.split}>
        <div className={styles.graph}>
          <DiffGraph
            label="The way of the run, and what it would be"
            {...{ before, after, layout }}
            ways={{ was: walked(answer.real.visits), now: walked(answer.other.visits) }}
            words={WAYS}
            onOpen={onSelect}
          />
        </div>
        <StepSides
          key={selected}
          {...{ answer, changes, words, selected, onChange, onSelect }}
          definition={after}
          answered={run.answers}
        />
      </div>
    </>
  )
}
