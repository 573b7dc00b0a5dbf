'use client'
import { ActionIcon, Button, SegmentedControl, Tooltip } from '@mantine/core'
import {
  Braces,
  Keyboard,
  LayoutGrid,
  List,
  ListTree,
  type LucideIcon,
  Plus,
  Redo2,
  Search,
  Undo2,
  WandSparkles,
  Workflow,
} from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './editor.module.css'
import { ToolMenu } from './tool-menu'

export type View = 'graph' | 'list' | 'outline' | 'json'

/** The view switch, and the commands that do not belong to a step. */
export function Toolbar(props: {
  view: View
  views: readonly View[]
  onView: (view: View) => void
  undo: string | null
  redo: string | null
  onUndo: () => void
  onRedo: () => void
  onAdd: () => void
  /** The name of the button. */
  describe: string
  onDescribe: () => void
  onTidy: () => void
  onFind: () => void
  onKeys: () => void
  readOnly: boolean
  /** The buttons that open panels, and the same as menu items. */
  panels: ReactNode
  panelItems: ReactNode
}) {
  const { view, views, undo, redo, readOnly } = props
  return (
    <section className={styles.toolbar} aria-label="Toolbar">
      <SegmentedControl
        size="xs"
        aria-label="View"
        data={views.map((value) => ({ value, label: <ViewName view={value} /> }))}
        value={view}
        onChange={(next) => props.onView(next as View)}
      />
      {!readOnly && (
        <>
          <Tooltip label={undo === null ? 'Nothing to undo' : `Undo: ${undo}`}>
            <ActionIcon
              variant="default"
              aria-label={undo === null ? 'Undo' : `Undo: ${undo}`}
              disabled={undo === null}
              onClick={props.onUndo}
            >
              <Undo2 size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label={redo === null ? 'Nothing to redo' : `Redo: ${redo}`}>
            <ActionIcon
              variant="default"
              className={styles.wide ?? ''}
              aria-label={redo === null ? 'Redo' : `Redo: ${redo}`}
              disabled={redo === null}
              onClick={props.onRedo}
            >
              <Redo2 size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
          <Tooltip label="Add a step after the selected one (A)">
            <Button size="xs" variant="default" leftSection={<Plus size={16} aria-hidden />} onClick={props.onAdd}>
              Add step
            </Button>
          </Tooltip>
          <Tooltip label={props.describe}>
            <ActionIcon
              variant="default"
              className={styles.wide ?? ''}
              aria-label={props.describe}
              onClick={props.onDescribe}
            >
              <WandSparkles size={16} aria-hidden />
            </ActionIcon>
          </Tooltip>
          {view === 'graph' && (
            <Tooltip label="Tidy all steps (Shift+T)">
              <Button
                size="xs"
                variant="default"
                className={styles.wide ?? ''}
                leftSection={<LayoutGrid size={16} aria-hidden />}
                onClick={props.onTidy}
              >
                Tidy
              </Button>
            </Tooltip>
          )}
        </>
      )}
      <Tooltip label="Find a step (Ctrl+F)">
        <ActionIcon variant="default" className={styles.wide ?? ''} aria-label="Find a step" onClick={props.onFind}>
          <Search size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <Tooltip label="Editor shortcuts">
        <ActionIcon variant="default" className="with-keyboard" aria-label="Editor shortcuts" onClick={props.onKeys}>
          <Keyboard size={16} aria-hidden />
        </ActionIcon>
      </Tooltip>
      <div className={styles.panels}>{props.panels}</div>
      <ToolMenu
        redo={redo}
        onRedo={readOnly ? null : props.onRedo}
        describe={props.describe}
        onDescribe={readOnly ? null : props.onDescribe}
        onTidy={readOnly || view !== 'graph' ? null : props.onTidy}
        onFind={props.onFind}
        panels={props.panelItems}
      />
    </section>
  )
}

const VIEWS: Record<View, [name: string, icon: LucideIcon]> = {
  graph: ['Graph', Workflow],
  list: ['List', List],
  outline: ['Outline', ListTree],
  json: ['JSON', Braces],
}

/** On a phone, only its icon. */
function ViewName({ view }: { view: View }) {
  const [name, Icon] = VIEWS[view]
  return (
    <>
      <Icon aria-hidden className={styles.viewIcon} />
      <span className={styles.viewName}>{name}</span>
    </>
  )
}
