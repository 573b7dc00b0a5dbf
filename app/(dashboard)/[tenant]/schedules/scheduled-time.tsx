'use client'
import { relativeTime } from '@/app/_ui/time-text'

/** A time at which a schedule starts its workflow, in the schedule's time zone: its rule refers to that zone. */
export function ScheduledTime({ at, zone }: { at: string; zone: string }) {
  const date = new Date(at)
  return (
    <time dateTime={at} title={relativeTime(date, Date.now())} suppressHydrationWarning>
      {new Intl.DateTimeFormat('en-GB', {
        weekday: 'short',
        year: 'numeric',
        month: 'short',
        day: 'numeric',
        hour: '2-digit',
        minute: '2-digit',
        timeZone: zone,
        timeZoneName: 'short',
      }).format(date)}
    </time>
  )
}
