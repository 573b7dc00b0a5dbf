export const PERIODS = [
  { value: '7', label: '7 days' },
  { value: '30', label: '30 days' },
  { value: '90', label: '90 days' },
]
export const DEFAULT_DAYS = 30 as const

/** The period in a URL; other values mean the default. */
export function periodOf(text: string): 7 | 30 | 90 {
  return text === '7' ? 7 : text === '90' ? 90 : DEFAULT_DAYS
}

export function percentText(part: number, whole: number): string {
  if (whole === 0) return '–'
  const share = (part / whole) * 100
  return `${share === 0 || share >= 10 ? Math.round(share) : share.toFixed(1)}%`
}

/** 20 Nov, for a day such as 2026-11-20. */
export function dayText(day: string): string {
  return new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' }).format(new Date(day))
}
