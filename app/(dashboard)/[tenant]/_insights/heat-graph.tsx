'use client'
import { SegmentedControl, Skeleton } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useMemo, useState } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { ErrorState } from '@/app/_ui/error-state'
import type { Definition } from '@/server/definition/schema'
import { type Said, StillGraph } from '../workflows/[id]/canvas/still-graph'
import { HEATS, type Heat, heatOf } from './heat'
import styles from './insights.module.css'
import { Card } from './parts'

/** The workflow's graph, each step coloured by its time, people's waiting, failures or tokens. */
export function HeatGraph({ workflowId }: { workflowId: string }) {
  const trpc = useTRPC()
  const [heat, setHeat] = useState<Heat>('time')
  const figures = useQuery({ ...trpc.insights.steps.queryOptions({ id: workflowId }), staleTime: 60_000 })
  const version = figures.data?.version ?? null
  const pinned = useQuery({
    ...trpc.workflows.version.queryOptions({ id: workflowId, version: String(version) }),
    enabled: version !== null,
    staleTime: Number.POSITIVE_INFINITY,
  })
  const catalog = useQuery({ ...trpc.steps.catalog.queryOptions(), staleTime: Number.POSITIVE_INFINITY })
  // The transport's types cannot express "any JSON".
  const definition = pinned.data as unknown as Definition | undefined
  const said = useMemo(() => {
    const steps = figures.data?.steps ?? []
    return new Map(
      (definition?.steps ?? []).map(({ id }): [string, Said] => {
        const { share, text } = heatOf(
          heat,
          steps.find(({ stepId }) => stepId === id),
          steps,
        )
        return [id, { note: text, heat: COLOURS[heat], share, words: text }]
      }),
    )
  }, [definition, figures.data, heat])

  const failed = [figures, pinned, catalog].find(({ error }) => error !== null)
  if (failed) return <ErrorState error={failed.error} onRetry={() => failed.refetch()} />
  if (figures.data?.version === null) return null
  return (
    <Card
      title="Step by step"
      actions={
        <SegmentedControl
          aria-label="What the colour shows"
          size="xs"
          data={[...HEATS]}
          value={heat}
          onChange={(next) => setHeat(next as Heat)}
        />
      }
    >
      {figures.data && (
        <p className={styles.note}>
          {figures.data.runs === 1 ? 'The newest run' : `The newest ${figures.data.runs} runs`} of{' '}
          {figures.data.number === null ? 'a draft' : `version ${figures.data.number}`}.{SAYS[heat]}
        </p>
      )}
      {definition && catalog.data && figures.data ? (
        <div className={styles.heat}>
          <StillGraph
            label="Graph with the figures of each step"
            definition={definition}
            catalog={catalog.data}
            layout={figures.data.layout}
            said={said}
          />
        </div>
      ) : (
        <Skeleton height={420} radius="md" />
      )}
    </Card>
  )
}

/** Explains the figures on the cards where they are not obvious. */
const SAYS: Record<Heat, string> = {
  time: ' Half of the visits, and 95%, took at most the time on the step.',
  waiting: ' Half of the tasks were answered within the time on the step.',
  failures: '',
  tokens: '',
}

const COLOURS: Record<Heat, string> = {
  time: 'var(--status-paused)',
  waiting: 'var(--status-paused)',
  failures: 'var(--status-failed)',
  tokens: 'var(--mantine-color-anchor)',
}
