import { Alert } from '@mantine/core'
import type { LucideIcon } from 'lucide-react'
import type { ReactNode } from 'react'

const COLORS = { quiet: 'gray', info: 'blue', warning: 'yellow', bad: 'red' } as const

/** Something one should know before one goes on. Its words have the contrast of text, whatever the colour. */
export function Notice({
  tone,
  icon: Icon,
  title,
  urgent = false,
  children,
}: {
  tone: keyof typeof COLORS
  icon: LucideIcon
  title: string
  /** Said at once by assistive technology. */
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
        title: { color: 'var(--mantine-color-text)' },
        message: { color: 'var(--mantine-color-text)' },
        icon: { color: 'var(--mantine-color-text)' },
      }}
    >
      {children}
    </Alert>
  )
}
