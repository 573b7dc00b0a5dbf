import { Alert } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

const COLORS = { quiet: 'gray', info: 'blue', warning: 'yellow', bad: 'red' } as const
/** The pills' tints: the library's are the most saturated areas of the dark theme. */
const TINTS = { quiet: 'cancelled', info: 'running', warning: 'paused', bad: 'failed' } as const

/** A notice to read before continuing. Its text has full contrast on every background colour. */
export function Notice({
  tone,
  icon: Icon,
  title,
  urgent = false,
  children,
}: {
  tone: keyof typeof COLORS
  icon: LucideIcon
  title: ReactNode
  /** Assistive technology announces it immediately. */
  urgent?: boolean
  children?: ReactNode
}) {
  return (
    <Alert
      color={COLORS[tone]}
      variant="light"
      role={urgent ? 'alert' : 'note'}
      icon={<Icon size={18} aria-hidden />}
      title={title}
      styles={{
        root: { background: `var(--status-${TINTS[tone]}-soft)` },
        title: { color: 'var(--mantine-color-text)' },
        message: { color: 'var(--mantine-color-text)' },
        icon: { color: 'var(--mantine-color-text)' },
      }}
    >
      {children}
    </Alert>
  )
}
