'use client'
import { type MantineColorScheme, Menu, UnstyledButton, useMantineColorScheme } from '@mantine/core'
import { BookOpen, Check, CircleUser, Keyboard, LogOut, Monitor, Moon, SlidersHorizontal, Sun } from 'lucide-react'
import { useState } from 'react'
import { Link } from '@/app/_ui/link'
import { roleName } from '@/app/_ui/role-name'
import { signOut } from '@/app/(auth)/sign-out'
import { REFERENCE } from './places'
import { useTenant } from './tenant-context'
import styles from './user-menu.module.css'

const SCHEMES = [
  { value: 'light', label: 'Light', icon: Sun },
  { value: 'dark', label: 'Dark', icon: Moon },
  { value: 'auto', label: 'System', icon: Monitor },
] as const satisfies { value: MantineColorScheme; label: string; icon: typeof Sun }[]

export function UserMenu({ onKeys }: { onKeys: () => void }) {
  const { user, role, path } = useTenant()
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Menu position="top-start" width={230}>
      <Menu.Target>
        <UnstyledButton className={styles.button} aria-label={`Account of ${user.name}`}>
          <CircleUser size={20} strokeWidth={1.75} aria-hidden />
          <span className={styles.who}>
            <span className={styles.name}>{user.name}</span>
            <span className={styles.role}>{roleName(role)}</span>
          </span>
        </UnstyledButton>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{user.email}</Menu.Label>
        <Menu.Divider />
        <Menu.Label>Theme</Menu.Label>
        {SCHEMES.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            closeMenuOnClick={false}
            leftSection={<Icon size={16} aria-hidden />}
            rightSection={colorScheme === value ? <Check size={14} aria-label="chosen" /> : null}
            onClick={() => setColorScheme(value)}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item component={Link} href={path('/settings/account')} leftSection={<CircleUser size={16} aria-hidden />}>
          Your account
        </Menu.Item>
        <Menu.Item
          component={Link}
          href={path('/settings/preferences')}
          leftSection={<SlidersHorizontal size={16} aria-hidden />}
        >
          Preferences
        </Menu.Item>
        <KeysItem onKeys={onKeys} />
        <Menu.Item component={Link} href={path(REFERENCE.href)} leftSection={<BookOpen size={16} aria-hidden />}>
          {REFERENCE.label}
        </Menu.Item>
        <Menu.Item leftSection={<LogOut size={16} aria-hidden />} onClick={() => void signOut()}>
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Not rendered rather than hidden, so that the menu's arrow keys skip it. */
function KeysItem({ onKeys }: { onKeys: () => void }) {
  const [keyboard] = useState(() => window.matchMedia('(min-width: 48.0625em) and (hover: hover)').matches)
  if (!keyboard) return null
  return (
    <Menu.Item leftSection={<Keyboard size={16} aria-hidden />} onClick={onKeys}>
      Keyboard shortcuts
    </Menu.Item>
  )
}
