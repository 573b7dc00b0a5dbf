import { Globe, type LucideIcon, Package, Plug, SquareTerminal } from 'lucide-react'
import styles from '../_versioned/list.module.css'

export const TOOL_KINDS: { kind: 'script' | 'http' | 'mcp'; label: string; icon: LucideIcon; text: string }[] = [
  {
    kind: 'script',
    label: 'Script',
    icon: SquareTerminal,
    text: 'Your own JavaScript, run in a sandbox. Computes, reshapes, decides.',
  },
  { kind: 'http', label: 'HTTP', icon: Globe, text: 'One request to a service, with values and secrets filled in.' },
  { kind: 'mcp', label: 'MCP', icon: Plug, text: 'A tool on a remote MCP server.' },
]

export function KindMark({ kind }: { kind: string }) {
  const known = TOOL_KINDS.find((one) => one.kind === kind)
  const Icon = known?.icon ?? Package
  return (
    <span className={styles.mark}>
      <Icon size={14} aria-hidden />
      {known?.label ?? 'Built in'}
    </span>
  )
}
