'use client'
import { ActionIcon, Button } from '@mantine/core'
import { ArrowDown, ArrowUp, type LucideIcon, Plus, Trash2 } from 'lucide-react'
import type { ReactNode } from 'react'
import { moved, type Row } from './use-rows'
import styles from './widgets.module.css'

const FIELDS = 'input:not([type="hidden"]), select, textarea, [contenteditable="true"]'

export function RowTools<T>(props: {
  /** The row's name, for labels. */
  rowLabel: string
  rows: Row<T>[]
  index: number
  setRows: (rows: Row<T>[]) => void
}) {
  const { rowLabel, rows, index, setRows } = props
  const tool = (label: string, Icon: LucideIcon, next: () => Row<T>[], idle = false) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      // Disabling the button would lose the focus at either end of the list.
      {...(idle ? { 'aria-disabled': true, 'data-disabled': true, style: { background: 'none' } } : {})}
      onClick={({ currentTarget }) => {
        if (idle) return
        setRows(next())
        // A moved row loses the focus.
        requestAnimationFrame(() => currentTarget.focus())
      }}
    >
      <Icon size={16} aria-hidden />
    </ActionIcon>
  )
  return (
    <div className={styles.tools}>
      {tool(`Move ${rowLabel} up`, ArrowUp, () => moved(rows, index, -1), index === 0)}
      {tool(`Move ${rowLabel} down`, ArrowDown, () => moved(rows, index, 1), index === rows.length - 1)}
      {tool(`Remove ${rowLabel}`, Trash2, () => rows.toSpliced(index, 1))}
    </div>
  )
}

/** Removes a row of a list whose order means nothing. */
export function RemoveRow({ rowLabel, onClick }: { rowLabel: string; onClick: () => void }) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      className={styles.remove ?? ''}
      aria-label={`Remove ${rowLabel}`}
      onClick={onClick}
    >
      <Trash2 size={16} aria-hidden />
    </ActionIcon>
  )
}

/** Puts the focus into the row that is about to appear before an element. A note may stand between the two. */
export function focusRowBefore(element: Element | null): void {
  requestAnimationFrame(() => {
    let row = element?.previousElementSibling
    while (row && !row.querySelector(FIELDS)) row = row.previousElementSibling
    row?.querySelector<HTMLElement>(FIELDS)?.focus()
  })
}

/** Adds a row before itself, and puts the focus into its first field. */
export function AddRow({ onClick, children }: { onClick: () => void; children: ReactNode }) {
  return (
    <Button
      variant="default"
      size="compact-sm"
      className={styles.add ?? ''}
      leftSection={<Plus size={14} aria-hidden />}
      onClick={({ currentTarget }) => {
        onClick()
        focusRowBefore(currentTarget)
      }}
    >
      {children}
    </Button>
  )
}
