'use client'
import { Button, Tooltip } from '@mantine/core'
import type { ReactNode } from 'react'

/** A button that stays focusable while it is unavailable, and says why. */
export function ReasonButton({
  reason,
  onClick,
  children,
  variant = 'filled',
  loading = false,
  leftSection,
  type = 'button',
}: {
  /** Why it is unavailable; null when it is available. */
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
