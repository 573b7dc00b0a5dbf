import { readFileSync } from 'node:fs'

/** US dollars per million tokens. */
export interface TokenPrices {
  input: number
  output: number
}

/**
 * The prices in a JSON file such as `{ "openai/gpt-5.4": { "input": 2, "output": 12 } }`; null if it is no such file.
 * @param path of the file
 */
export function readPriceFile(path: string): ReadonlyMap<string, TokenPrices> | null {
  try {
    const entries = Object.entries<TokenPrices>(JSON.parse(readFileSync(path, 'utf8')))
    return entries.every(([, prices]) => isPrice(prices?.input) && isPrice(prices?.output)) ? new Map(entries) : null
  } catch {
    return null
  }
}

function isPrice(value: unknown): boolean {
  return typeof value === 'number' && value >= 0 && value <= 1e6
}

/** For a setting with the path of such a file, which may be absent. */
export function mayBePriceFile(path: string | undefined): boolean {
  return path === undefined || readPriceFile(path) !== null
}

export const NO_PRICE_FILE = {
  message: 'must be a JSON file of prices in US dollars per million tokens: {"openai/gpt-5.4":{"input":2,"output":12}}',
}
