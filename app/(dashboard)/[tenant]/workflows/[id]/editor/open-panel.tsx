'use client'
import { Skeleton } from '@mantine/core'
import dynamic from 'next/dynamic'
import { inPlace, loadPart } from '@/app/_ui/part'
import type { Definition } from '@/server/definition/schema'
import type { Catalog } from '@/server/steps/catalog'
import { useTenant } from '../../../tenant-context'
import type { GoTo, SaveNow } from '../actions/screen'
import type { useProblems } from '../draft/use-problems'
import type { Layout } from '../model/definition'
import type { SimulatePanelProps } from '../panels/simulate-panel'
import type { TestPanelProps } from '../panels/test-panel'
import type { VersionsPanelProps } from '../panels/versions-panel'
import type { ProblemListProps } from '../parts/problem-list'
import type { TestRunState } from '../parts/test-state'
import { FixButton } from '../widgets/fix-button'
import { BottomPanel } from './bottom-panel'
import { type Panel, TRIALS } from './panels'

const wait = inPlace(<Skeleton height={80} m="md" />)
const ProblemList = dynamic<ProblemListProps>(
  () => loadPart(() => import('../parts/problem-list').then((module) => module.ProblemList)),
  { ssr: false, loading: wait },
)
const TestPanel = dynamic<TestPanelProps>(
  () => loadPart(() => import('../panels/test-panel').then((module) => module.TestPanel)),
  { ssr: false, loading: wait },
)
const SimulatePanel = dynamic<SimulatePanelProps>(
  () => loadPart(() => import('../panels/simulate-panel').then((module) => module.SimulatePanel)),
  { ssr: false, loading: wait },
)
const VersionsPanel = dynamic<VersionsPanelProps>(
  () => loadPart(() => import('../panels/versions-panel').then((module) => module.VersionsPanel)),
  { ssr: false, loading: wait },
)

export interface OpenPanelProps {
  panel: Panel
  phone: boolean
  onPanel: (panel: Panel) => void
  onClose: () => void
  workflowId: string
  definition: Definition
  layout: Layout
  catalog: Catalog
  /** The only selected step, or START. */
  selected: string | null
  test: TestRunState
  onSelect: (stepId: string) => void
  check: ReturnType<typeof useProblems>
  save: SaveNow
  onGoTo: GoTo
  onRestored: VersionsPanelProps['onRestored']
}

export function OpenPanel(props: OpenPanelProps) {
  const { panel, phone, onPanel, onClose, workflowId, definition, layout, catalog, selected, test, onSelect } = props
  const { check, save, onGoTo, onRestored } = props
  const { may } = useTenant()
  const tabs = TRIALS.filter((name) => may(name === 'simulate' ? 'workflow:simulate' : 'run:start'))
  return (
    <BottomPanel panel={panel} phone={phone} tabs={tabs} onPanel={onPanel} onClose={onClose}>
      {panel === 'problems' && (
        <ProblemList
          problems={check.problems}
          checked={check.checked}
          error={check.error}
          onGo={onGoTo}
          definition={definition}
          catalog={catalog}
          action={(problem) => <FixButton problem={problem} onGo={onGoTo} />}
        />
      )}
      {(panel === 'test' || panel === 'step' || panel === 'through') && (
        <TestPanel
          trial={panel}
          workflowId={workflowId}
          definition={definition}
          catalog={catalog}
          selected={selected}
          test={test}
          save={save}
          onSelect={onSelect}
          onGoTo={onGoTo}
        />
      )}
      {panel === 'simulate' && (
        <SimulatePanel workflowId={workflowId} definition={definition} catalog={catalog} save={save} onGoTo={onGoTo} />
      )}
      {panel === 'versions' && <VersionsPanel {...{ workflowId, definition, layout, save, onRestored }} />}
    </BottomPanel>
  )
}
