import {
  Bot,
  Box,
  Braces,
  CalendarClock,
  ClipboardList,
  Clock,
  Code,
  Database,
  FileText,
  Flag,
  FlaskConical,
  GitBranch,
  GitFork,
  Globe,
  type LucideIcon,
  Mail,
  MessageSquare,
  Repeat,
  Send,
  Split,
  Timer,
  UserCheck,
  Webhook,
  Wrench,
  Zap,
} from 'lucide-react'

/** The icons the catalog can name; any other name shows a box. */
const ICONS: Record<string, LucideIcon> = {
  bot: Bot,
  braces: Braces,
  'calendar-clock': CalendarClock,
  'clipboard-list': ClipboardList,
  clock: Clock,
  code: Code,
  database: Database,
  'file-text': FileText,
  flag: Flag,
  'flask-conical': FlaskConical,
  'git-branch': GitBranch,
  'git-fork': GitFork,
  globe: Globe,
  mail: Mail,
  'message-square': MessageSquare,
  repeat: Repeat,
  send: Send,
  split: Split,
  timer: Timer,
  'user-check': UserCheck,
  webhook: Webhook,
  wrench: Wrench,
  zap: Zap,
}

export function StepIcon({ name, size = 16 }: { name: string; size?: number }) {
  const Icon = ICONS[name] ?? Box
  return <Icon size={size} strokeWidth={1.75} aria-hidden />
}
