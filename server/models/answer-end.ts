import type { FinishReason, ProviderMetadata } from 'ai'
import { isJsonObject } from '../definition/json'

/** How an answer ended. */
export interface AnswerEnd {
  finishReason: FinishReason
  /** The model's own words when it refused to answer; null without a refusal or words. */
  refusal: string | null
}

const MAX_REFUSAL = 2_000

export function endOf(answer: {
  text: string
  finishReason: FinishReason
  rawFinishReason: string | undefined
  providerMetadata: ProviderMetadata | undefined
}): AnswerEnd {
  const { text, finishReason, rawFinishReason, providerMetadata } = answer
  const kept = Object.values(providerMetadata ?? {}).map((own) => (isJsonObject(own) ? own.refusal : undefined))
  const said = kept.find((refusal) => typeof refusal === 'string' && refusal.trim() !== '')
  // OpenAI's SDK returns a refusal as the text of an unstopped answer, and marks it as filtered.
  const asText = finishReason === 'content-filter' && rawFinishReason === 'stop' ? text : null
  const refusal = typeof said === 'string' ? said : asText
  return { finishReason, refusal: refusal?.slice(0, MAX_REFUSAL) ?? null }
}

/** Whether the model or its provider's filter refused to answer. */
export function isRefusal({ finishReason, refusal }: AnswerEnd): boolean {
  return refusal !== null || finishReason === 'content-filter'
}

/** Why an answer is incomplete, as a sentence continues after "the answer"; null without a sign of it. */
export function whyNotWhole({ finishReason, refusal }: AnswerEnd, maxOutputTokens: number | undefined): string | null {
  if (refusal !== null) return `is a refusal: ${refusal}`
  if (finishReason === 'content-filter') return "was stopped by the provider's filter"
  if (finishReason === 'error') return 'was broken off by the provider'
  if (finishReason !== 'length') return null
  const limit =
    maxOutputTokens === undefined
      ? "the model's limit of output tokens"
      : `the limit of ${maxOutputTokens.toLocaleString('en')} output tokens that the agent's model settings set`
  return `was cut off at ${limit}`
}

/** Why an answer ended, unless it ended normally. */
export function oddEnd({ finishReason }: AnswerEnd): { finishReason?: 'length' | 'content-filter' | 'error' } {
  return finishReason === 'length' || finishReason === 'content-filter' || finishReason === 'error'
    ? { finishReason }
    : {}
}
