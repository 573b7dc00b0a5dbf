import type { Spent } from '@/server/views/insights/figures'

export const tokensOf = ({ inputTokens, outputTokens }: Spent) => inputTokens + outputTokens

/**
 * Writes costs, in whichever currency prices were set: a total and its parts with as many digits after the point. Two,
 * or three digits of a total below 1.
 */
export function costTexts(total: number | null): (cost: number) => string {
  const digits = digitsOf(total)
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const least = 10 ** -digits
  return (cost) => (cost === 0 ? '0' : cost < least / 2 ? `<${format.format(least)}` : format.format(cost))
}

/** A total as the sum of its parts as they are shown, so that they add up, if they are all of it. */
export function shownTotal(total: number, parts: readonly number[]): number {
  const unit = 10 ** -digitsOf(total)
  const missing = total - parts.reduce((sum, part) => sum + part, 0)
  if (Math.abs(missing) > unit / 1_000) return total
  return parts.reduce((sum, part) => sum + Math.round(part / unit), 0) * unit
}

function digitsOf(total: number | null): number {
  return total === null || total <= 0 || total >= 1 ? 2 : Math.min(20, 2 - Math.floor(Math.log10(total)))
}

/** 1.2M of 1,234,567. */
export function tokensText(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString('en')
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return new Intl.NumberFormat('en', { notation: 'compact', ...digits }).format(tokens)
}
