import type { Spent } from '@/server/views/insights/figures'

export const tokensOf = ({ inputTokens, outputTokens }: Spent) => inputTokens + outputTokens

/**
 * Formats costs in the currency of the prices: a total and its parts with the same number of decimals: two, or enough
 * for three digits of a total below 1.
 */
export function costTexts(total: number | null): (cost: number) => string {
  const digits = digitsOf(total)
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const least = 10 ** -digits
  return (cost) => (cost === 0 ? '0' : cost < least / 2 ? `<${format.format(least)}` : format.format(cost))
}

/** A total as the sum of its rounded parts, if they cover it, so that the shown figures add up. */
export function shownTotal(total: number, parts: readonly number[]): number {
  const unit = 10 ** -digitsOf(total)
  const missing = total - parts.reduce((sum, part) => sum + part, 0)
  if (Math.abs(missing) > unit / 1_000) return total
  return parts.reduce((sum, part) => sum + Math.round(part / unit), 0) * unit
}

function digitsOf(total: number | null): number {
  return total === null || total <= 0 || total >= 1 ? 2 : Math.min(20, 2 - Math.floor(Math.log10(total)))
}

/** 1.2M for 1,234,567. */
export function tokensText(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString('en')
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return new Intl.NumberFormat('en', { notation: 'compact', ...digits }).format(tokens)
}
