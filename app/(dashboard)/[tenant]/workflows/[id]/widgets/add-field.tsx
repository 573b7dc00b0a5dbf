'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { ChevronDown } from 'lucide-react'
import { useRef, useState } from 'react'
import { FIELD_KINDS, type FieldKind, kindLabel } from '../../../_fields/kinds'
import { AddRow, focusRowBefore } from './row-tools'
import styles from './widgets.module.css'

const OTHERS = FIELD_KINDS.filter((kind) => kind !== 'string')

/** Adds a text, or a field of the type that is chosen from a menu. */
export function AddField({ onAdd }: { onAdd: (kind: FieldKind) => void }) {
  const place = useRef<HTMLDivElement>(null)
  // A choice puts the focus into the new row; Escape leaves it at the button.
  const [chosen, setChosen] = useState(false)
  function add(kind: FieldKind) {
    setChosen(true)
    onAdd(kind)
    focusRowBefore(place.current)
  }
  return (
    <div ref={place} className={styles.addField}>
      <AddRow onClick={() => add('string')}>Add field</AddRow>
      <Menu position="bottom-start" width={180} returnFocus={!chosen} onOpen={() => setChosen(false)}>
        <Menu.Target>
          <ActionIcon variant="default" size={26} aria-label="Add a field of another type">
            <ChevronDown size={14} aria-hidden />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {OTHERS.map((kind) => (
            <Menu.Item key={kind} onClick={() => add(kind)}>
              {kindLabel(kind)}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </div>
  )
}
