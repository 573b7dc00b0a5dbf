'use client'
import { Badge, Tooltip } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Bot, House, Inbox, type LucideIcon, Play, Settings, Workflow, Wrench } from 'lucide-react'
import Link from 'next/link'
import { usePathname } from 'next/navigation'
import { useTRPC } from '@/app/_trpc/client'
import styles from './navigation.module.css'
import { useTenant } from './tenant-context'
import { UserMenu } from './user-menu'
import { WorkspaceMenu } from './workspace-menu'

interface Place {
  label: string
  href: string
  icon: LucideIcon
  /** On a phone the bar has room for five. */
  onPhone: boolean
}

export const PLACES: Place[] = [
  { label: 'Home', href: '', icon: House, onPhone: true },
  { label: 'Workflows', href: '/workflows', icon: Workflow, onPhone: true },
  { label: 'Runs', href: '/runs', icon: Play, onPhone: true },
  { label: 'Inbox', href: '/inbox', icon: Inbox, onPhone: true },
  { label: 'Agents', href: '/agents', icon: Bot, onPhone: false },
  { label: 'Tools', href: '/tools', icon: Wrench, onPhone: false },
  { label: 'Settings', href: '/settings', icon: Settings, onPhone: true },
]

export function Navigation() {
  return (
    <div className={styles.side}>
      <div className={styles.top}>
        <WorkspaceMenu />
      </div>
      <nav aria-label="Main" className={styles.nav}>
        <ul className={styles.list}>
          {PLACES.map((place) => (
            <li key={place.label} className={place.onPhone ? undefined : styles.wideOnly}>
              <PlaceLink place={place} />
            </li>
          ))}
        </ul>
      </nav>
      <div className={styles.foot}>
        <UserMenu />
      </div>
    </div>
  )
}

function PlaceLink({ place: { label, href, icon: Icon } }: { place: Place }) {
  const { path } = useTenant()
  const pathname = usePathname()
  const target = path(href)
  const current = href === '' ? pathname === target : pathname === target || pathname.startsWith(`${target}/`)
  return (
    <Link href={target} className={styles.link} aria-current={current ? 'page' : undefined}>
      <Icon size={18} aria-hidden strokeWidth={1.75} />
      <span>{label}</span>
      {label === 'Inbox' && <Waiting />}
    </Link>
  )
}

/** How many people's answers runs are waiting for. */
function Waiting() {
  const trpc = useTRPC()
  const { data } = useQuery({ ...trpc.tasks.count.queryOptions(), refetchInterval: 15_000 })
  if (!data || data.count === 0) return null
  const text = data.more ? `${data.count}+` : String(data.count)
  return (
    <Tooltip label={`${text} waiting for a person`}>
      <Badge className={styles.badge ?? ''} size="sm" variant="filled" aria-label={`${text} waiting`}>
        {text}
      </Badge>
    </Tooltip>
  )
}
