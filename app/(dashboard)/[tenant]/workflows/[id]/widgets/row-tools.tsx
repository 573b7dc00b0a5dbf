'use client'
import { ActionIcon, Group } from '@mantine/core'
import { ArrowDown, ArrowUp, type LucideIcon, Trash2 } from 'lucide-react'
import { moved, type Row } from './use-rows'

/** What can be done with a row of a list: another place for it, or none. */
export function RowTools<T>(props: {
  /** The row, in words. */
  called: string
  rows: Row<T>[]
  index: number
  setRows: (rows: Row<T>[]) => void
}) {
  const { called, rows, index, setRows } = props
  const tool = (label: string, Icon: LucideIcon, next: () => Row<T>[], idle = false) => (
    <ActionIcon
      variant="subtle"
      color="gray"
      aria-label={label}
      // Not disabled, which would lose the focus at either end of the list.
      {...(idle ? { 'aria-disabled': true, 'data-disabled': true, style: { background: 'none' } } : {})}
      onClick={({ currentTarget }) => {
        if (idle) return
        setRows(next())
        // A row that takes another place loses the focus on the way.
        requestAnimationFrame(() => currentTarget.focus())
      }}
    >
      <Icon size={16} aria-hidden />
    </ActionIcon>
  )
  return (
    <Group gap={0} justify="flex-end">
      {tool(`Move ${called} up`, ArrowUp, () => moved(rows, index, -1), index === 0)}
      {tool(`Move ${called} down`, ArrowDown, () => moved(rows, index, 1), index === rows.length - 1)}
      {tool(`Remove ${called}`, Trash2, () => rows.toSpliced(index, 1))}
    </Group>
  )
}
