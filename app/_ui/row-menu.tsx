'use client'
import { ActionIcon, Menu } from '@mantine/core'
import { Ellipsis, type LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'
import { Link } from './link'

interface RowMenuProps {
  /** The row's name, for screen readers. */
  of: string
  children: ReactNode
  width?: number
  /** Of the button. */
  className?: string
  opened?: boolean
  onChange?: (opened: boolean) => void
}

/** The menu of a row's actions, behind a button with three dots. */
export function RowMenu({ of, children, width = 200, className = '', ...opening }: RowMenuProps) {
  return (
    <Menu position="bottom-end" width={width} {...opening}>
      <Menu.Target>
        <ActionIcon variant="subtle" color="gray" size={28} className={className} aria-label={`Actions for ${of}`}>
          <Ellipsis size={18} aria-hidden />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>{children}</Menu.Dropdown>
    </Menu>
  )
}

interface RowActionProps {
  icon: LucideIcon
  onClick: () => void
  children: ReactNode
  disabled?: boolean
  /** Shown in red. */
  destructive?: boolean
}

/** One action of a `RowMenu`. */
export function RowAction({ icon: Icon, onClick, children, disabled = false, destructive = false }: RowActionProps) {
  return (
    <Menu.Item
      leftSection={<Icon size={16} aria-hidden />}
      disabled={disabled}
      onClick={onClick}
      {...(destructive && { color: 'red' })}
    >
      {children}
    </Menu.Item>
  )
}

/** An entry of a `RowMenu` that leads to a page. */
export function RowLink({ icon: Icon, href, children }: { icon: LucideIcon; href: string; children: ReactNode }) {
  return (
    <Menu.Item component={Link} href={href} leftSection={<Icon size={16} aria-hidden />}>
      {children}
    </Menu.Item>
  )
}

/** The entries at the end of a `RowMenu` that only callers of the API need. */
export function ForDevelopersRows({ children }: { children: ReactNode }) {
  return (
    <>
      <Menu.Divider />
      <Menu.Label>For developers</Menu.Label>
      {children}
    </>
  )
}
