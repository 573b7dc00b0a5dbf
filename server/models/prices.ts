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
 * The price of a model: as typed in its agent, else as in `MODEL_PRICES_FILE`, else as in the list that this release comes
 * with. Null if nobody knows it. Nothing is fetched, so that a bill can be explained.
 */
export async function priceOf({ provider, modelId, prices }: ModelConfig): Promise<Price | null> {
  const typed = prices === 'list' ? undefined : prices
  const perMillion = typed ?? ownPrices().get(`${provider}/${modelId}`)
  if (perMillion) {
    return (tokens) => {
      const { input_tokens, output_tokens } = usageOf(tokens)
      return (input_tokens * perMillion.input + output_tokens * perMillion.output) / 1e6
    }
  }
  return provider === 'openai-compatible' || provider === 'scripted' ? null : listPrice(provider, modelId)
}

/** Knows tiers, and what tokens from a cache cost. */
async function listPrice(providerId: string, modelId: string): Promise<Price | null> {
  // The list has 0.8 MB, so it is loaded with the first model that needs it.
  const { calcPrice } = await import('@pydantic/genai-prices')
  const priceFor = (tokens: Tokens, timestamp: Date) =>
    calcPrice(usageOf(tokens), modelId, { providerId, timestamp })?.total_price ?? null
  const isListed = priceFor({ input: 1, cached: 0, written: 0, output: 1 }, new Date()) !== null
  return isListed ? (tokens, at) => priceFor(tokens, at) ?? 0 : null
}

/** What a price is computed of: servers report odd numbers, too. Some report cached tokens beside the input. */
function usageOf({ input, cached, written, output }: Tokens) {
  const count = (tokens: number, most = Number.MAX_SAFE_INTEGER) =>
    Number.isFinite(tokens) ? Math.min(most, Math.max(0, tokens)) : 0
  const all = count(input)
  const fromCache = count(cached, all)
  return {
    input_tokens: all,
    cache_read_tokens: fromCache,
    cache_write_tokens: count(written, all - fromCache),
    output_tokens: count(output),
  }
}

/** The installation's own prices, read once. */
function ownPrices(): ReadonlyMap<string, TokenPrices> {
  const path = env().MODEL_PRICES_FILE
  if (path === undefined) return NONE
  return processWide(`model-prices ${path}`, () => readPriceFile(path) ?? NONE)
}

const NONE: ReadonlyMap<string, TokenPrices> = new Map()
