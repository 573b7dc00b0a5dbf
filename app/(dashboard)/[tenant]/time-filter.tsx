'use client'
import { Select } from '@mantine/core'
import { absoluteTime, useTimeZone } from '@/app/_ui/time-text'

const RANGES = [
  { value: '1h', label: 'Last hour', ms: 3_600_000 },
  { value: '24h', label: 'Last 24 hours', ms: 86_400_000 },
  { value: '7d', label: 'Last 7 days', ms: 7 * 86_400_000 },
  { value: '30d', label: 'Last 30 days', ms: 30 * 86_400_000 },
] as const

/** Filters a list by time: a range until now, or one set by a link. */
export function TimeFilter({
  label,
  params,
  onChange,
  className,
}: {
  label: string
  params: URLSearchParams
  onChange: (changes: { from: string | null; to: null }) => void
  className: string
}) {
  const [zone] = useTimeZone()
  const [from, to] = [params.get('from'), params.get('to')]
  const chosen = from || to ? 'chosen' : null
  const parts = [from ? `from ${short(from, zone)}` : '', to ? `to ${short(to, zone)}` : '']
  const text = parts.filter(Boolean).join(' ')
  return (
    <Select
      aria-label={label}
      placeholder="Any time"
      data={[
        ...(chosen ? [{ value: 'chosen', label: text }] : []),
        ...RANGES.map(({ value, label }) => ({ value, label })),
      ]}
      value={chosen}
      onChange={(value) => {
        const range = RANGES.find((each) => each.value === value)
        if (value === 'chosen') return
        onChange({ from: range ? new Date(Date.now() - range.ms).toISOString() : null, to: null })
      }}
      clearable
      className={className}
    />
  )
}

function short(text: string, zone: string): string {
  const date = new Date(text)
  return Number.isNaN(date.getTime()) ? 'an unknown time' : absoluteTime(date, zone, false)
}
