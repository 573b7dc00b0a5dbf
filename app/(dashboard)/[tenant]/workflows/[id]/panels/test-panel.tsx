'use client'
import { Skeleton, Text } from '@mantine/core'
import dynamic from 'next/dynamic'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { useTenant } from '../../../tenant-context'
import type { GoTo, SaveNow } from '../actions/screen'
import { findStep } from '../model/definition'
import type { TestRunState } from '../parts/test-state'
import { OnlyForm } from './only-panel'
import type { StepThroughProps } from './step-through'
import { TestForm } from './test-form'
import styles from './test-panel.module.css'
import { TestRun } from './test-run'

const StepThroughPanel = dynamic<StepThroughProps>(
  () => loadPart(() => import('./step-through').then((module) => module.StepThroughPanel)),
  { ssr: false, loading: inPlace(<Skeleton height={80} m="md" />) },
)

/** What the panel tries: the draft, the selected step, or the draft step by step. */
type Trial = 'test' | 'step' | 'through'

export interface TestPanelProps {
  trial: Trial
  workflowId: string
  definition: Definition
  catalog: Catalog
  /** The selected step, or START. */
  selected: string | null
  test: TestRunState
  save: SaveNow
  onSelect: (stepId: string) => void
  onGoTo: GoTo
}

/** Runs the current draft, or a part of it, and shows the run. */
export function TestPanel(props: TestPanelProps) {
  const { trial, workflowId, definition, catalog, selected, test, save, onSelect, onGoTo } = props
  const { may, role } = useTenant()
  // The server has the same rule for drafts of workflows that have a published version.
  if (!may('workflow:write')) {
    return (
      <Text size="sm" c="dimmed" px="md" pb="md">
        To test a draft, you need the role editor or higher. Your role is {role}.
      </Text>
    )
  }
  if (trial === 'through')
    return <StepThroughPanel {...{ workflowId, definition, catalog, selected, test, save, onSelect }} />
  const step = selected === null ? undefined : findStep(definition, selected)
  const { run } = test
  return (
    <div className={styles.panel}>
      {trial === 'test' ? (
        <TestForm
          workflowId={workflowId}
          definition={definition}
          catalog={catalog}
          to={test.to !== null && findStep(definition, test.to) ? test.to : null}
          onTo={test.setTo}
          typed={test.typed}
          onType={test.type}
          save={save}
          onStarted={test.start}
        />
      ) : step ? (
        <OnlyForm
          key={step.id}
          workflowId={workflowId}
          definition={definition}
          step={step}
          catalog={catalog}
          save={save}
          onStarted={(started) => test.start({ ...started, part: { only: step.id } })}
        />
      ) : (
        <Text size="sm" c="dimmed">
          Select a step to run it on its own.
        </Text>
      )}
      {run ? (
        <TestRun
          key={run.runId}
          run={run}
          definition={definition}
          selected={selected}
          onSelect={onSelect}
          onGoTo={onGoTo}
          onClear={test.clear}
        />
      ) : (
        <Text size="sm" c="dimmed">
          The run appears here and on the graph, step by step. It is a real run: its steps call real tools and agents.
        </Text>
      )}
    </div>
  )
}
