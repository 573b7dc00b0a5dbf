'use client'
import { SegmentedControl, Skeleton } from '@mantine/core'
import { useMounted } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { SearchX } from 'lucide-react'
import dynamic from 'next/dynamic'
import { useCallback, useEffect, useMemo, useRef, useState } from 'react'
import { errorOf, useTRPC } from '@/app/_trpc/client'
import { EmptyState } from '@/app/_ui/empty-state'
import { ErrorState } from '@/app/_ui/error-state'
import { Link } from '@/app/_ui/link'
import { PageBody } from '@/app/_ui/page-body'
import { PageHeader } from '@/app/_ui/page-header'
import { inPlace, loadPart } from '@/app/_ui/part'
import { hasClosed } from '@/app/_ui/single-keys'
import { useUrlState } from '@/app/_ui/use-url-state'
import { isBranch } from '@/server/definition/branches'
import type { RunOverview } from '@/server/views/runs/overview'
import type { Timeline as TimelineData } from '@/server/views/runs/timeline'
import { useTenant } from '../../tenant-context'
import { RunAnswers } from './answers'
import { FailureCard, RetryCard, WaitingCards } from './cards'
import { JsonPanel } from './json-panel'
import styles from './run.module.css'
import { RunFacts, RunHeader } from './run-header'
import { RunSkeleton } from './run-skeleton'
import { BoundaryPanel, StepPanel } from './step-panel'
import { StoryText } from './story-text'
import { RESULT, START, Timeline } from './timeline'
import { branchOfKey, callAt, placeText, type Visit, visitsOf } from './timeline-model'
import { useLiveRun, useRefresh } from './use-live-run'

const RunGraph = dynamic(() => loadPart(() => import('./run-graph').then((module) => module.RunGraph)), {
  ssr: false,
  loading: inPlace(<Skeleton height={480} radius="md" />),
})

const CallPanel = dynamic(() => loadPart(() => import('./call-panel').then((module) => module.CallPanel)), {
  ssr: false,
  loading: inPlace(<Skeleton height={160} radius="md" />),
})

const Comments = dynamic(() => loadPart(() => import('../../_comments/comments').then((module) => module.Comments)), {
  ssr: false,
  loading: inPlace(null),
})

const VIEWS = [
  { value: 'timeline', label: 'Timeline' },
  { value: 'graph', label: 'Graph' },
  { value: 'json', label: 'JSON' },
]

/** One run: its state, the reason why it waits or failed, and all its steps. */
export function RunDetail({ runId }: { runId: string }) {
  const trpc = useTRPC()
  const overview = useQuery(trpc.runs.overview.queryOptions({ runId }))
  if (overview.data) return <Loaded run={overview.data} stale={overview.error} />
  if (!overview.error) return <RunSkeleton />
  return <Missing error={overview.error} onRetry={() => overview.refetch()} />
}

function Loaded({ run, stale }: { run: RunOverview; stale: unknown }) {
  const { runId } = run
  const trpc = useTRPC()
  const { get, set } = useUrlState()
  const timeline = useQuery({
    ...trpc.runs.timeline.queryOptions({ runId }),
    // After the first load, only changes are fetched.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
  })
  // Bars grow with the clock, and the server's clock may differ.
  const drawn = useMounted()
  const live = useLiveRun(runId, timeline.data, run.endTime !== null)
  const refresh = useRefresh(runId)
  const visits = useMemo(() => (timeline.data ? visitsOf(timeline.data) : []), [timeline.data])
  const failed = useMemo(() => failedVisit(run, visits), [run, visits])
  const view = VIEWS.some(({ value }) => value === get('view')) ? get('view') : 'timeline'
  const opened = get('step') || null
  // A failed run opens at the failed step, whose card already shows its details. Closing a step's details is remembered
  // while the page is open, so that the steps do not move.
  const [closed, setClosed] = useState(false)
  const selected = opened ?? (closed ? null : (failed?.key ?? null))
  // With very many branches, the timeline has only the newest visits.
  const branch = branchOfKey(selected ?? '')
  const inside = useQuery({
    ...trpc.runs.timeline.queryOptions({ runId, branch }),
    enabled: timeline.data?.cut === true && isBranch(branch),
    staleTime: Number.POSITIVE_INFINITY,
  })
  const known = useMemo(() => [...visits, ...(inside.data ? visitsOf(inside.data) : [])], [visits, inside.data])
  const panel = useRef<HTMLDivElement>(null)
  const select = useCallback(
    (step: string, tab: string | null = null) => {
      set({ step, tab })
      // If the panel is below the steps, scroll it into view.
      if (window.matchMedia('(max-width: 75em)').matches) {
        requestAnimationFrame(() => panel.current?.scrollIntoView({ block: 'nearest' }))
      }
    },
    [set],
  )
  const close = () => {
    setClosed(true)
    set({ step: null, tab: null })
  }
  return (
    <>
      <RunHeader run={run} onSettled={refresh} />
      <PageBody>
        <div className={styles.head}>
          <RunFacts run={run} live={live} />
          <StoryText run={run} />
          {stale ? <ErrorState error={stale} onRetry={refresh} title="This page is not up to date" /> : null}
          <FailureCard run={run} visit={failed} onOpen={select} />
          <RetryCard run={run} />
          <WaitingCards run={run} onSettled={refresh} />
          <RunAnswers run={run} onOpen={select} />
        </div>
        <SegmentedControl
          aria-label="View"
          data={VIEWS}
          value={view}
          onChange={(value) => set({ view: value === 'timeline' ? null : value })}
          mb="md"
        />
        {view === 'json' ? (
          <JsonPanel runId={runId} ended={run.endTime !== null} />
        ) : (
          <div className={opened ? styles.split : undefined}>
            {timeline.error && !timeline.data && (
              <ErrorState error={timeline.error} onRetry={() => timeline.refetch()} />
            )}
            {(timeline.isPending || !drawn) && <Skeleton height={320} radius="md" />}
            {timeline.data &&
              drawn &&
              (view === 'graph' ? (
                <div>
                  <RunGraph
                    runId={runId}
                    version={run.workflowVersion}
                    visits={visits}
                    choices={run.answers}
                    ended={run.endTime !== null}
                    selected={selected}
                    onSelect={select}
                  />
                  {timeline.data.cut && <p className={styles.note}>Only the newest visits are counted.</p>}
                </div>
              ) : (
                <Timeline
                  runId={runId}
                  timeline={timeline.data}
                  moves={run.moves}
                  ending={run.state === 'completed' ? (run.result ? 'Result' : 'End') : null}
                  selected={selected}
                  onSelect={select}
                />
              ))}
            <div ref={panel} className={styles.side}>
              <Details
                run={run}
                visits={known}
                names={{ ...timeline.data?.names, ...inside.data?.names }}
                selected={opened}
                tab={get('tab') || null}
                onTab={(tab) => set({ tab, step: opened })}
                onClose={close}
              />
            </div>
          </div>
        )}
        {timeline.data && drawn && <Comments runId={runId} />}
      </PageBody>
    </>
  )
}

function Details({
  run,
  visits,
  names,
  selected,
  ...panel
}: {
  run: RunOverview
  visits: Visit[]
  names: TimelineData['names']
  selected: string | null
  tab: string | null
  onTab: (tab: string | null) => void
  onClose: () => void
}) {
  const { onClose } = panel
  useEffect(() => {
    function onKey(event: KeyboardEvent) {
      const open = document.querySelector('[role="dialog"], [role="menu"], [role="listbox"]')
      if (event.key === 'Escape' && selected && !open && !event.defaultPrevented && !hasClosed(event)) onClose()
    }
    window.addEventListener('keydown', onKey)
    return () => window.removeEventListener('keydown', onKey)
  }, [selected, onClose])
  if (selected === START) return <BoundaryPanel run={run} which="start" onClose={onClose} />
  if (selected === RESULT) return <BoundaryPanel run={run} which="result" onClose={onClose} />
  const call = callAt(selected ?? '')
  const visit = visits.find(({ key }) => key === (call?.visit ?? selected))
  if (call && visit) return <CallPanel of={{ runId: run.runId, seq: visit.seq }} call={call.id} onClose={onClose} />
  return visit ? <StepPanel run={run} visit={visit} where={placeText(visit.branch, names)} {...panel} /> : null
}

function failedVisit(run: RunOverview, visits: Visit[]): Visit | undefined {
  if (run.state !== 'failed' && run.state !== 'timed_out') return undefined
  return (
    visits.findLast((visit) => hasFailed(visit) && visit.stepId === run.error?.stepId) ?? visits.findLast(hasFailed)
  )
}

function hasFailed({ status }: Visit): boolean {
  return status === 'failed' || status === 'timed_out'
}

function Missing({ error, onRetry }: { error: unknown; onRetry: () => void }) {
  const { path } = useTenant()
  return (
    <>
      <PageHeader back={{ href: path('/runs'), label: 'Runs' }} title="Run" />
      <PageBody>
        {errorOf(error).code === 'RUN_NOT_FOUND' ? (
          <EmptyState icon={SearchX} title="Run not found" actions={<Link href={path('/runs')}>All runs</Link>}>
            The id may be wrong, or the run is in another workspace.
          </EmptyState>
        ) : (
          <ErrorState error={error} onRetry={onRetry} />
        )}
      </PageBody>
    </>
  )
}
