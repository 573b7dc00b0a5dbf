import {
  BookOpen,
  Bot,
  CalendarClock,
  ChartColumn,
  CirclePlay,
  House,
  Inbox,
  type LucideIcon,
  Play,
  Settings,
  Webhook,
  Workflow,
  Wrench,
} from 'lucide-react'
import type { Operation } from '@/server/auth/policy'

export interface Place {
  label: string
  href: string
  icon: LucideIcon
  /** The key to press after G. */
  key: string
  /** The bar on phones has room for four and a menu with the rest. */
  onPhone: boolean
  /** Only for roles with this right. */
  operation?: Operation
}

/** In the user menu, where phone users would not look for a page. */
export const REFERENCE = { label: 'API reference', href: '/reference', icon: BookOpen }

/** All pages. `usePlaces` returns those of the user's role. */
export const PLACES: Place[] = [
  { label: 'Home', href: '', icon: House, key: 'h', onPhone: true },
  { label: 'Start', href: '/start', icon: CirclePlay, key: 'p', onPhone: false, operation: 'run:start' },
  { label: 'Workflows', href: '/workflows', icon: Workflow, key: 'w', onPhone: true },
  { label: 'Runs', href: '/runs', icon: Play, key: 'r', onPhone: true },
  { label: 'Inbox', href: '/inbox', icon: Inbox, key: 'i', onPhone: true },
  { label: 'Insights', href: '/insights', icon: ChartColumn, key: 'n', onPhone: false },
  { label: 'Schedules', href: '/schedules', icon: CalendarClock, key: 'c', onPhone: false },
  { label: 'Inbound webhooks', href: '/inbound-webhooks', icon: Webhook, key: 'b', onPhone: false },
  { label: 'Agents', href: '/agents', icon: Bot, key: 'a', onPhone: false },
  { label: 'Tools', href: '/tools', icon: Wrench, key: 't', onPhone: false },
  { label: 'Settings', href: '/settings', icon: Settings, key: 's', onPhone: false },
]
