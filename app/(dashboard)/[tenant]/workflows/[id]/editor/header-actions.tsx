'use client'
import { Button } from '@mantine/core'
import { CircleAlert, History, Play, Rocket, Route } from 'lucide-react'
import { useTenant } from '../../../tenant-context'
import type { Panel } from './bottom-panel'
import styles from './editor.module.css'

/** Opens the dialog that publishes, for the roles that may. */
export function PublishButton({ onPublish }: { onPublish: () => void }) {
  const { may } = useTenant()
  if (!may('workflow:publish')) return null
  return (
    <Button leftSection={<Rocket size={16} aria-hidden />} onClick={onPublish}>
      Publish
    </Button>
  )
}

/** Actions on the whole workflow, for the roles that have them. */
export function HeaderActions(props: { testing: boolean; onTest: () => void; onPublish: () => void }) {
  const { testing, onTest, onPublish } = props
  const { may } = useTenant()
  return (
    <>
      {may('run:start') && (
        <Button variant="default" leftSection={<Play size={16} aria-hidden />} aria-expanded={testing} onClick={onTest}>
          Test run
        </Button>
      )}
      <PublishButton onPublish={onPublish} />
    </>
  )
}

/**
 * Opens and closes the panels below the graph.
 * @param props.problems how many there are; null as long as nobody knows
 */
export function PanelButtons(props: { panel: Panel | null; problems: number | null; onPanel: (panel: Panel) => void }) {
  const { panel, problems, onPanel } = props
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
      {/* On a phone the tab of the same page does as much. */}
      <span className={styles.wide}>{button('versions', History, 'History')}</span>
    </>
  )
}
