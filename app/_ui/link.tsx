'use client'
import NextLink from 'next/link'
import { type ComponentProps, useState } from 'react'

/**
 * A link that prefetches its page only on hover or focus. Next itself sends two requests for each link in view: dozens
 * of calls per opened page.
 */
export function Link({ onPointerEnter, onFocus, ...props }: Omit<ComponentProps<typeof NextLink>, 'prefetch'>) {
  const [isNear, setNear] = useState(false)
  return (
    <NextLink
      {...props}
      prefetch={isNear ? null : false}
      onPointerEnter={(event) => {
        setNear(true)
        onPointerEnter?.(event)
      }}
      onFocus={(event) => {
        setNear(true)
        onFocus?.(event)
      }}
    />
  )
}
