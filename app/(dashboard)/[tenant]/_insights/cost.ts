import type { Spent } from '@/server/views/insights/figures'

export const tokensOf = ({ inputTokens, outputTokens }: Spent) => inputTokens + outputTokens

/**
 * Writes costs, in whichever currency prices were set: a total and its parts with the same digits after the point, since
 * otherwise they would not add up. Two, or three digits of a total below 1.
 */
export function costTexts(total: number | null): (cost: number) => string {
  const digits = total === null || total <= 0 || total >= 1 ? 2 : Math.min(20, 2 - Math.floor(Math.log10(total)))
  const format = new Intl.NumberFormat('en', { minimumFractionDigits: digits, maximumFractionDigits: digits })
  const least = 10 ** -digits
  return (cost) => (cost === 0 ? '0' : cost < least / 2 ? `<${format.format(least)}` : format.format(cost))
}

/** 1.2M of 1,234,567. */
export function tokensText(tokens: number): string {
  if (tokens < 10_000) return tokens.toLocaleString('en')
  const digits = { minimumFractionDigits: 1, maximumFractionDigits: 1 }
  return new Intl.NumberFormat('en', { notation: 'compact', ...digits }).format(tokens)
}
