'use client'
import { Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import { durationText } from '@/app/_ui/time-text'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { END } from '../../workflows/[id]/canvas/graph'
import { type Said, StillGraph } from '../../workflows/[id]/canvas/still-graph'
import { type Layout, START } from '../../workflows/[id]/model/definition'
import { type Choice, takenIn } from './exits-taken'
import styles from './run-graph.module.css'
import { START as INPUT, RESULT } from './timeline'
import { stateOf, type Visit } from './timeline-model'

interface Props {
  runId: string
  /** The run's version, which another one replaces when the run is moved. */
  version: number
  visits: Visit[]
  /** People's choices, oldest first. */
  choices: readonly Choice[]
  /** Whether the run has a result to show. */
  ended: boolean
  selected: string | null
  onSelect: (key: string) => void
}

/** The editor's canvas with the run's version and the run's visits to each step. */
export function RunGraph({ runId, version, ...props }: Props) {
  const trpc = useTRPC()
  const pinned = useQuery({
    ...trpc.runs.definition.queryOptions({ runId }),
    // A version never changes, and its node positions hardly matter.
    staleTime: Number.POSITIVE_INFINITY,
  })
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  const { data: known, refetch } = pinned
  const isOutdated = known !== undefined && known.version !== version
  useEffect(() => {
    if (isOutdated) void refetch()
  }, [isOutdated, refetch])
  const failed = pinned.error ? pinned : catalog.error ? catalog : null
  if (failed) return <ErrorState error={failed.error} onRetry={() => failed.refetch()} />
  if (!pinned.data || !catalog.data) return <Skeleton height={480} radius="md" />
  // The transport's types cannot express "any JSON".
  const definition = pinned.data.definition as Definition
  return <Drawn {...props} definition={definition} layout={pinned.data.layout} catalog={catalog.data} />
}

function Drawn(props: Omit<Props, 'runId' | 'version'> & { definition: Definition; layout: Layout; catalog: Catalog }) {
  const { definition, layout, catalog, visits, choices, ended, selected, onSelect } = props
  const taken = useMemo(() => takenIn(definition, catalog, visits, choices), [definition, catalog, visits, choices])
  const latest = useMemo(() => latestVisits(visits), [visits])
  const said = useMemo(
    () =>
      new Map(
        definition.steps.map(({ id }) => {
          const label = choices.findLast(({ stepId }) => stepId === id)?.label ?? null
          return [id, saidOf(latest.get(id), label)]
        }),
      ),
    [definition, latest, choices],
  )
  const chosen =
    selected === INPUT ? START : selected === RESULT ? END : visits.find(({ key }) => key === selected)?.stepId
  return (
    <div className={styles.graph}>
      <StillGraph
        label="Graph of the run"
        definition={definition}
        catalog={catalog}
        layout={layout}
        said={said}
        taken={taken}
        selected={chosen ?? null}
        begin={chosen ?? visits.findLast(({ status }) => status === 'running')?.stepId ?? null}
        onOpen={(id) => {
          if (id === START) return onSelect(INPUT)
          if (id === END) return ended ? onSelect(RESULT) : undefined
          const visit = latest.get(id)?.visit
          if (visit) onSelect(visit.key)
        }}
      />
    </div>
  )
}

function saidOf(of: { visit: Visit; count: number } | undefined, chosen: string | null): Said {
  if (!of) return { state: 'none', note: '', words: 'not reached' }
  const { visit, count } = of
  const state = stateOf(visit)
  const took = visit.end !== null && !visit.carried ? durationText(visit.end - visit.start) : ''
  const note = [took, visit.carried ? 'earlier' : '', count > 1 ? `${count.toLocaleString('en')} visits` : '']
    .filter(Boolean)
    .join(' · ')
  const choice = chosen === null || state !== 'completed' ? '' : `${chosen} was chosen`
  return { state, note, words: [state === 'paused' ? 'waiting' : state, note, choice].filter(Boolean).join(', ') }
}

/** Each step's latest visit, which is the most informative one. */
function latestVisits(visits: readonly Visit[]): Map<string, { visit: Visit; count: number }> {
  const latest = new Map<string, { visit: Visit; count: number }>()
  for (const visit of visits) {
    latest.set(visit.stepId, { visit, count: (latest.get(visit.stepId)?.count ?? 0) + 1 })
  }
  return latest
}
