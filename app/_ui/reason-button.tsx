'use client'
import { Button, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'

/** A button that, while something stands in its way, stays reachable and says what it is. */
export function ReasonButton({
  reason,
  onClick,
  children,
  variant = 'filled',
  loading = false,
  leftSection,
  type = 'button',
}: {
  /** Why it cannot be pressed now; null when it can. */
  reason: string | null
  onClick?: () => void
  children: ReactNode
  variant?: 'filled' | 'default'
  loading?: boolean
  leftSection?: ReactNode
  type?: 'button' | 'submit'
}) {
  const blocked = reason !== null
  return (
    <Tooltip label={reason ?? ''} disabled={!blocked} events={{ hover: true, focus: true, touch: true }}>
      <Button
        type={type}
        variant={variant}
        loading={loading}
        leftSection={leftSection}
        aria-disabled={blocked}
        {...(blocked ? { 'data-disabled': true } : {})}
        onClick={(event) => {
          if (blocked) event.preventDefault()
          else onClick?.()
        }}
      >
        {children}
      </Button>
    </Tooltip>
  )
}
