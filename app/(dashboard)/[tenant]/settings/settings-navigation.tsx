'use client'
import {
  Activity,
  Bot,
  Building2,
  CircleUser,
  FileKey2,
  KeyRound,
  ScrollText,
  SlidersHorizontal,
  Users,
  UsersRound,
  Vault,
  Webhook,
} from 'lucide-react'
import { usePathname } from 'next/navigation'
import { useEffect, useRef } from 'react'
import { Link } from '@/app/_ui/link'
import { useTenant } from '../tenant-context'
import styles from './settings.module.css'

/** The sections of the settings, without those the role may not see. Also used by the command palette. */
export const SETTINGS = [
  { label: 'API keys', href: '/settings/api-keys', icon: KeyRound, operation: 'key:manage' },
  { label: 'Signing secrets', href: '/settings/signing-secrets', icon: FileKey2, operation: 'secret:manage' },
  { label: 'Vault', href: '/settings/vault', icon: Vault, operation: 'secret:manage' },
  { label: 'Webhooks', href: '/settings/webhooks', icon: Webhook, operation: 'webhook:manage' },
  { label: 'Members', href: '/settings/members', icon: Users, operation: 'member:manage' },
  { label: 'Groups', href: '/settings/groups', icon: UsersRound, operation: 'member:manage' },
  { label: 'Agents', href: '/settings/agents', icon: Bot, operation: 'settings:manage' },
  { label: 'Workspace', href: '/settings/workspace', icon: Building2, operation: 'settings:manage' },
  { label: 'Audit log', href: '/settings/audit', icon: ScrollText, operation: 'audit:read' },
  { label: 'Service', href: '/settings/service', icon: Activity, operation: 'service:read' },
  { label: 'Your account', href: '/settings/account', icon: CircleUser, operation: null },
  { label: 'Preferences', href: '/settings/preferences', icon: SlidersHorizontal, operation: null },
] as const

export function SettingsNavigation() {
  const { path, may } = useTenant()
  const pathname = usePathname()
  const list = useRef<HTMLUListElement>(null)
  // On a phone the sections are in one line, which may be wider than the screen.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another page is another current part
  useEffect(() => {
    list.current?.querySelector('[aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [pathname])
  return (
    <nav className={styles.side} aria-label="Settings">
      <p className={styles.heading}>Settings</p>
      <ul className={styles.list} ref={list}>
        {SETTINGS.filter(({ operation }) => operation === null || may(operation)).map(({ label, href, icon: Icon }) => (
          <li key={href}>
            <Link
              href={path(href)}
              className={styles.link}
              aria-current={pathname.startsWith(path(href)) ? 'page' : undefined}
            >
              <Icon size={16} strokeWidth={1.75} aria-hidden />
              {label}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  )
}
