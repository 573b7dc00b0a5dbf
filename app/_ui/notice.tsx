import { Alert } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

const COLORS = { quiet: 'gray', info: 'blue', warning: 'yellow', bad: 'red' } as const
/** Those of pills: the library's own are the most saturated areas of the dark theme. */
const TINTS = { quiet: 'cancelled', info: 'running', warning: 'paused', bad: 'failed' } as const

/** Information to read before going on. Its text keeps full contrast on every background colour. */
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
  /** Announced at once by assistive technology. */
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
