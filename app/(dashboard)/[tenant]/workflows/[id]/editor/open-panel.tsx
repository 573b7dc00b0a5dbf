'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import type { Definition } from '@/server/definition/schema'
import type { GoTo, SaveNow } from '../actions/screen'
import type { useProblems } from '../draft/use-problems'
import type { SimulatePanelProps } from '../panels/simulate-panel'
import type { TestPanelProps } from '../panels/test-panel'
import type { VersionsPanelProps } from '../panels/versions-panel'
import { ProblemList } from '../parts/problem-list'
import { FixButton } from '../widgets/fix-button'
import { BottomPanel, type Panel } from './bottom-panel'

const wait = () => <Skeleton height={80} m="md" />
const TestPanel = dynamic<TestPanelProps>(() => import('../panels/test-panel').then((module) => module.TestPanel), {
  ssr: false,
  loading: wait,
})
const SimulatePanel = dynamic<SimulatePanelProps>(
  () => import('../panels/simulate-panel').then((module) => module.SimulatePanel),
  { ssr: false, loading: wait },
)
const VersionsPanel = dynamic<VersionsPanelProps>(
  () => import('../panels/versions-panel').then((module) => module.VersionsPanel),
  { ssr: false, loading: wait },
)

/** The open panel with its content. */
export function OpenPanel(props: {
  panel: Panel
  onClose: () => void
  workflowId: string
  definition: Definition
  check: ReturnType<typeof useProblems>
  save: SaveNow
  onGoTo: GoTo
  onRestored: VersionsPanelProps['onRestored']
}) {
  const { panel, onClose, workflowId, definition, check, save, onGoTo, onRestored } = props
  return (
    <BottomPanel panel={panel} onClose={onClose}>
      {panel === 'problems' && (
        <ProblemList
          problems={check.problems}
          checked={check.checked}
          error={check.error}
          onGo={onGoTo}
          action={(problem) => <FixButton problem={problem} onGo={onGoTo} />}
        />
      )}
      {panel === 'test' && <TestPanel workflowId={workflowId} definition={definition} save={save} onGoTo={onGoTo} />}
      {panel === 'simulate' && <SimulatePanel workflowId={workflowId} save={save} onGoTo={onGoTo} />}
      {panel === 'versions' && (
        <VersionsPanel workflowId={workflowId} definition={definition} save={save} onRestored={onRestored} />
      )}
    </BottomPanel>
  )
}
