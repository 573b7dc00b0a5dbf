'use client'
import { Menu, UnstyledButton } from '@mantine/core'
import { Check, ChevronsUpDown } from 'lucide-react'
import { Link } from '@/app/_ui/link'
import { useTenant } from './tenant-context'
import styles from './workspace-menu.module.css'

export function WorkspaceMenu() {
  const { name, slug, workspaces } = useTenant()
  return (
    <Menu position="bottom-start" width={240}>
      <Menu.Target>
        <UnstyledButton className={styles.button} aria-label={`Workspace ${name}`}>
          <span className={styles.mark} aria-hidden>
            {name.slice(0, 1).toUpperCase()}
          </span>
          <span className={styles.name}>{name}</span>
          <ChevronsUpDown size={14} aria-hidden />
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>Workspaces</Menu.Label>
        {workspaces.map((workspace) => (
          <Menu.Item
            key={workspace.slug}
            component={Link}
            href={`/${workspace.slug}`}
            rightSection={workspace.slug === slug ? <Check size={14} aria-label="current" /> : null}
          >
            {workspace.name}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}
