'use client'
import { Tooltip } from '@mantine/core'
import { useNow, useZone } from './clock'
import { formatDuration, formatExact, formatRelative, zoneName } from './time-format'

/** A moment: how long ago in lists, to the millisecond where one looks closely. The other form is in the tooltip. */
export function Time({ at, exact = false }: { at: string; exact?: boolean }) {
  const zone = useZone()
  const now = useNow(!exact)
  const date = new Date(at)
  const full = `${formatExact(date, zone, { millis: exact })} ${zoneName(zone, date)}`
  const relative = now === null ? full : formatRelative(date, now)
  return (
    <Tooltip label={exact ? relative : full}>
      <time dateTime={at}>{exact ? full : relative}</time>
    </Tooltip>
  )
}

/** How long something took, or has been taking. */
export function Duration({ from, to }: { from: string; to: string | null }) {
  const now = useNow(to === null)
  const end = to === null ? now : Date.parse(to)
  return <span>{end === null ? '' : formatDuration(end - Date.parse(from))}</span>
}
