import { createAnthropic } from '@ai-sdk/anthropic'
import { createGoogleGenerativeAI } from '@ai-sdk/google'
import { createOpenAI } from '@ai-sdk/openai'
import type { LanguageModelV3 } from '@ai-sdk/provider'
import { setLibraryGlobal } from '@/db/process-wide'
import type { ServiceContext } from '../context'
import type { JsonObject } from '../definition/json'
import { keepingDigits } from '../definition/long-numbers'
import { env } from '../env'
import { type Masker, maskerOf } from '../vault/mask'
import { withChangedJson } from './changed-json'
import { openAICompatible } from './compatible'
import { resolveKey } from './keys'
import type { ModelConfig } from './schema'
import { scriptedModel } from './scripted'

// Keeps the SDK from printing warnings: only our log writes output.
setLibraryGlobal('AI_SDK_LOG_WARNINGS', false)

export interface OpenModel {
  model: LanguageModelV3
  /** The provider that actually answers: `scripted` if the chosen one has no key. */
  provider: string
  modelId: string
  settings: ModelConfig['settings']
  /** False if a provider that must answer in JSON rejects tools, or never calls them. */
  jsonBesideTools: boolean
  providerOptions?: Record<string, JsonObject>
  /** Set if a user chose the server, whose answer may repeat the key sent to it. */
  mask?: { masker: Masker; longestForm: number }
}

/** Opens the model of an agent's configuration; the scripted one without a key. */
export async function openModel(ctx: ServiceContext, config: ModelConfig): Promise<OpenModel> {
  const { provider, modelId, settings } = config
  const apiKey = await resolveKey(ctx, config)
  const open = { provider, modelId, settings, jsonBesideTools: true }
  switch (provider) {
    case 'openai-compatible':
      return {
        ...open,
        model: openAICompatible(config, apiKey),
        // A model that a server constrains to a grammar cannot call tools.
        jsonBesideTools: false,
        // JSON escaping turns a character into at most six.
        ...(apiKey ? { mask: { masker: maskerOf([apiKey]), longestForm: apiKey.length * 6 } } : {}),
      }
    case 'openai':
      if (!apiKey) break
      // Strict mode rejects schemas with optional fields, and we check answers ourselves. The chat API stores no state
      // at the provider.
      return {
        ...open,
        model: createOpenAI({ apiKey, ...at(env().OPENAI_BASE_URL) }).chat(modelId),
        providerOptions: { openai: { strictJsonSchema: false } },
      }
    case 'anthropic':
      if (!apiKey) break
      return { ...open, model: createAnthropic({ apiKey, ...at(env().ANTHROPIC_BASE_URL) })(modelId) }
    case 'google':
      if (!apiKey) break
      return {
        ...open,
        model: createGoogleGenerativeAI({ apiKey, ...at(env().GOOGLE_GENERATIVE_AI_BASE_URL) })(modelId),
        jsonBesideTools: false,
      }
    case 'scripted':
      break
  }
  return { ...open, provider: 'scripted', modelId: 'scripted', model: scriptedModel() }
}

/**
 * The installation's own setting, never a tenant's, so it bypasses the guard. Redirects are not followed: the key was
 * checked for this address only, and some providers take it in a header that would be forwarded.
 */
function at(baseURL: string | undefined): { baseURL?: string; fetch: typeof fetch } {
  return {
    ...(baseURL === undefined ? {} : { baseURL }),
    // Anthropic and Google write tools' arguments as JSON of their own, with long numbers. All three answer in UTF-8,
    // which is also the only charset of JSON and event streams in their standards.
    fetch: async (input, init) => {
      const response = await fetch(input, { ...init, redirect: 'manual' })
      return response.ok ? withChangedJson(response, keepingDigits) : response
    },
  }
}
