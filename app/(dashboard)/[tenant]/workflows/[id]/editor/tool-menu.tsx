'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis, LayoutGrid, Redo2, Search, WandSparkles } from 'lucide-react'
import type { ReactNode } from 'react'
import styles from './editor.module.css'

/** Toolbar commands that do not fit on a phone. Null commands are not in the menu. */
export function ToolMenu(props: {
  /** The label of the change to redo. */
  redo: string | null
  onRedo: (() => void) | null
  describe: string
  onDescribe: (() => void) | null
  onTidy: (() => void) | null
  onFind: () => void
  /** The items that open panels. */
  panels: ReactNode
}) {
  const { redo, onRedo, describe, onDescribe, onTidy, onFind, panels } = props
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon variant="default" className={styles.narrow ?? ''} aria-label="More tools">
          <Ellipsis size={16} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {onRedo && (
          <Menu.Item leftSection={<Redo2 size={16} aria-hidden />} disabled={redo === null} onClick={onRedo}>
            {redo === null ? 'Redo' : `Redo: ${redo}`}
          </Menu.Item>
        )}
        {onDescribe && (
          <Menu.Item leftSection={<WandSparkles size={16} aria-hidden />} onClick={onDescribe}>
            {describe}
          </Menu.Item>
        )}
        {onTidy && (
          <Menu.Item leftSection={<LayoutGrid size={16} aria-hidden />} onClick={onTidy}>
            Tidy
          </Menu.Item>
        )}
        <Menu.Item leftSection={<Search size={16} aria-hidden />} onClick={onFind}>
          Find a step
        </Menu.Item>
        {panels}
      </Menu.Dropdown>
    </Menu>
  )
}
