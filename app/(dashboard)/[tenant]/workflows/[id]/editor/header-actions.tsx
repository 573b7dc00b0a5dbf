'use client'
import { Button, Menu } from '@mantine/core'
import { CircleAlert, History, Play, Route } from 'lucide-react'
import { useTenant } from '../../../tenant-context'
import type { Startable } from '../../run-dialog'
import { StartButton } from '../../start-button'
import type { Panel } from './panels'
import { PublishButton } from './publish-button'

/** Actions on the whole workflow, for the roles that have them. */
export function HeaderActions(props: {
  workflow: Startable
  /** The number of changes since the published version; null without one. */
  unpublished: number | null
  /** The published version is not known yet. */
  pending: boolean
  testing: boolean
  onTest: () => void
  onPublish: () => void
}) {
  const { workflow, unpublished, pending, testing, onTest, onPublish } = props
  const { may } = useTenant()
  return (
    <>
      {may('run:start') && (
        <Button variant="default" leftSection={<Play size={16} aria-hidden />} aria-expanded={testing} onClick={onTest}>
          Test run
        </Button>
      )}
      <StartButton workflow={workflow} unpublished={unpublished ?? 0} pending={pending} />
      <PublishButton onPublish={onPublish} />
    </>
  )
}

interface PanelProps {
  panel: Panel | null
  /** The number of problems; null until known. */
  problems: number | null
  onPanel: (panel: Panel) => void
}

/** Opens and closes the panels below the graph. */
export function PanelButtons({ panel, problems, onPanel }: PanelProps) {
  const { may } = useTenant()
  const button = (name: Panel, Icon: typeof History, text: string) => (
    <Button
      size="xs"
      variant="default"
      aria-expanded={panel === name}
      leftSection={<Icon size={16} aria-hidden />}
      onClick={() => onPanel(name)}
    >
      {text}
    </Button>
  )
  return (
    <>
      {button('problems', CircleAlert, `Problems ${problems ?? '…'}`)}
      {may('workflow:simulate') && button('simulate', Route, 'Simulate')}
      {button('versions', History, 'History')}
    </>
  )
}

/** The same on a phone, where the history's tab replaces its panel. */
export function PanelItems({ problems, onPanel }: Omit<PanelProps, 'panel'>) {
  const { may } = useTenant()
  return (
    <>
      <Menu.Item leftSection={<CircleAlert size={16} aria-hidden />} onClick={() => onPanel('problems')}>
        Problems {problems ?? '…'}
      </Menu.Item>
      {may('workflow:simulate') && (
        <Menu.Item leftSection={<Route size={16} aria-hidden />} onClick={() => onPanel('simulate')}>
          Simulate
        </Menu.Item>
      )}
    </>
  )
}
