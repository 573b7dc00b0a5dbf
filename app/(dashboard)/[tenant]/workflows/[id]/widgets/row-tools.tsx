'use client'
import { ActionIcon, Group } from '@mantine/core'
import { ArrowDown, ArrowUp, type LucideIcon, Trash2 } from 'lucide-react'
import { moved, type Row } from './use-rows'

/** Buttons that move or remove a row. */
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
    <Group gap={0} justify="flex-end">
      {tool(`Move ${rowLabel} up`, ArrowUp, () => moved(rows, index, -1), index === 0)}
      {tool(`Move ${rowLabel} down`, ArrowDown, () => moved(rows, index, 1), index === rows.length - 1)}
      {tool(`Remove ${rowLabel}`, Trash2, () => rows.toSpliced(index, 1))}
    </Group>
  )
}
