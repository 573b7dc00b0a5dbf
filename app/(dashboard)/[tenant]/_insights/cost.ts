import type { Spent } from '@/server/views/insights/figures'

export const tokensOf = ({ inputTokens, outputTokens }: Spent) => inputTokens + outputTokens

/** A cost, in whichever currency prices were set: two digits after the point, or as many as a small one needs. */
export function costText(cost: number): string {
  if (cost === 0) return '0'
  return cost >= 1
    ? cost.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 })
    : cost.toLocaleString('en', { maximumSignificantDigits: 2 })
}

export const costOrNone = ({ cost }: Spent) => (cost === null ? '–' : costText(cost))

/** 1.2M of 1,234,567. */
export function tokensText(tokens: number): string {
  return tokens < 10_000
    ? tokens.toLocaleString('en')
    : new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 }).format(tokens)
}
