'use client'
import { useEffect, useState } from 'react'
import { useShownZone } from './shown-zone'
import { onTick } from './ticks'
import { absoluteTime, clockTime, durationText, passedText, relativeTime } from './time-text'

/**
 * A point in time: relative in lists, absolute where precision matters. The title shows the other form with the time
 * zone.
 */
export function Time({
  at,
  absolute = false,
  precise = false,
}: {
  at: string | Date
  absolute?: boolean
  precise?: boolean
}) {
  const zone = useShownZone()
  const date = typeof at === 'string' ? new Date(at) : at
  const now = useNow(absolute ? null : 15_000)
  const exact = absoluteTime(date, zone, precise)
  return (
    <time
      dateTime={date.toISOString()}
      title={absolute ? relativeTime(date, Date.now()) : exact}
      suppressHydrationWarning
    >
      {absolute ? exact : relativeTime(date, now)}
    </time>
  )
}

/** A point in time within a sentence: the hour and minute, and the day unless it is today. */
export function Clock({ at }: { at: string }) {
  const zone = useShownZone()
  const date = new Date(at)
  return (
    <time dateTime={at} title={absoluteTime(date, zone, true)} suppressHydrationWarning>
      {clockTime(date, zone, Date.now())}
    </time>
  )
}

/** The time since `from`, updated while visible, or the time between `from` and `to`. */
export function Duration({ from, to }: { from: string; to?: string | null | undefined }) {
  const now = useNow(to ? null : 1_000)
  const began = Date.parse(from)
  return (
    <span suppressHydrationWarning>
      {to ? durationText(Math.max(0, Date.parse(to) - began)) : passedText(now - began)}
    </span>
  )
}

/** The current time, updated every `everyMs` in step with all other users of that interval; null means never. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => (everyMs === null ? undefined : onTick(everyMs, setNow)), [everyMs])
  return now
}
