import { processWide } from '@/db/process-wide'
import { readPriceFile, type TokenPrices } from '@/lib/model-prices'
import { env } from '../env'
import type { ModelConfig } from './schema'

/** The tokens of an answer. Those read from the provider's cache and written to it are among `input`. */
export interface Tokens {
  input: number
  cached: number
  written: number
  output: number
}

/** The price of an answer. */
export type Price = (tokens: Tokens, at: Date) => number

/**
 * The price of a model: as typed in its agent, else as in `MODEL_PRICES_FILE`. Null if nobody knows it. Nothing is
 * fetched, so that a bill can be explained.
 */
export function priceOf({ provider, modelId, prices }: ModelConfig): Price | null {
  const typed = prices === 'list' ? undefined : prices
  const perMillion = typed ?? ownPrices().get(`${provider}/${modelId}`)
  return perMillion ? ({ input, output }) => (input * perMillion.input + output * perMillion.output) / 1e6 : null
}

/** The installation's own prices, read once. */
function ownPrices(): ReadonlyMap<string, TokenPrices> {
  const path = env().MODEL_PRICES_FILE
  if (path === undefined) return NONE
  return processWide(`model-prices ${path}`, () => readPriceFile(path) ?? NONE)
}

const NONE: ReadonlyMap<string, TokenPrices> = new Map()
