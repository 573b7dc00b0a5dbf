'use client'
import { Text } from '@mantine/core'
import { useState } from 'react'
import type { RunOverview } from '@/server/views/runs/overview'
import { StepPanel } from '../../../runs/[runId]/step-panel'
import type { Visit } from '../../../runs/[runId]/timeline-model'
import styles from './test-panel.module.css'

/** A test run's data for one visit of the selected step: input, output, error and attempts, as on the run's page. */
export function StepData(props: {
  run: RunOverview
  visit: Visit | null
  selected: string | null
  onClose: () => void
}) {
  const { run, visit, selected, onClose } = props
  const [tab, setTab] = useState<string | null>(null)
  if (visit === null) {
    return (
      <Text size="sm" c="dimmed">
        {selected === null ? 'Select a step to see its input and output.' : `The run has not come to ${selected}.`}
      </Text>
    )
  }
  return (
    <div className={styles.data}>
      <StepPanel key={visit.stepId} run={run} visit={visit} where="" tab={tab} onTab={setTab} onClose={onClose} />
    </div>
  )
}
