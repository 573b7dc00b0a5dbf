'use client'
import NextLink from 'next/link'
import { type ComponentProps, useState } from 'react'

/**
 * A link whose page is loaded ahead only once somebody is about to follow it: points at it, or moves the focus to it. Next
 * itself would ask the server twice for each link in view, which is dozens of calls for each page that is opened.
 */
export function Link({ onPointerEnter, onFocus, ...props }: ComponentProps<typeof NextLink>) {
  const [isNear, setNear] = useState(false)
  return (
    <NextLink
      prefetch={isNear ? null : false}
      {...props}
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
