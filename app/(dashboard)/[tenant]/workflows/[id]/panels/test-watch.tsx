'use client'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useMemo } from 'react'
import { useTRPC } from '@/app/_trpc/client'
import { durationText } from '@/app/_ui/time-text'
import { stateOf, visitsOf } from '../../../runs/[runId]/timeline-model'
import { useLiveRun } from '../../../runs/[runId]/use-live-run'
import type { Tested, TestedSteps } from '../parts/tested'

export interface TestWatchProps {
  runId: string
  onTested: (steps: TestedSteps) => void
}

/** Follows a test run while the editor shows it, whether or not its panel is open. Renders nothing. */
export function TestWatch({ runId, onTested }: TestWatchProps) {
  const trpc = useTRPC()
  const { data: timeline } = useQuery(trpc.runs.timeline.queryOptions({ runId }))
  useLiveRun(runId, timeline)
  const change = timeline?.change ?? null
  const { data: outputs, refetch } = useQuery({
    ...trpc.runs.outputs.queryOptions({ runId }),
    enabled: change !== null,
  })
  useEffect(() => {
    if (change !== null) void refetch()
  }, [change, refetch])
  const steps = useMemo(() => {
    const found = new Map<string, Tested>()
    for (const visit of timeline ? visitsOf(timeline) : []) {
      const took = visit.end === null ? '' : durationText(visit.end - visit.start)
      const state = stateOf(visit)
      const output = state === 'completed' ? (outputs?.[visit.stepId] ?? null) : null
      found.set(visit.stepId, { state, took, output, visits: (found.get(visit.stepId)?.visits ?? 0) + 1 })
    }
    return found
  }, [timeline, outputs])
  useEffect(() => onTested(steps), [steps, onTested])
  return null
}
