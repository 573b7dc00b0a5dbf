import { z } from 'zod'
import type { FailureKind, ModelConfig as Model, ProviderName } from '../definition/agent'
import { components } from '../definition/component'

export const PROVIDERS = [
  'scripted',
  'openai',
  'anthropic',
  'google',
  'openai-compatible',
] as const satisfies readonly ProviderName[]

/** Why the next model may answer. */
export const FAILURE_KINDS = [
  'unavailable',
  'rate-limited',
  'key',
  'too-long',
  'refused',
] as const satisfies readonly FailureKind[]

export type { ProviderName } from '../definition/agent'

/** Settings of a model call, in terms all providers share. */
export const ModelSettings = z.strictObject({
  temperature: z.number().min(0).max(2).optional(),
  topP: z.number().min(0).max(1).optional(),
  topK: z.number().int().min(1).max(1000).optional(),
  maxOutputTokens: z.number().int().min(1).max(1_000_000).optional(),
  presencePenalty: z.number().min(-2).max(2).optional(),
  frequencyPenalty: z.number().min(-2).max(2).optional(),
  seed: z.number().int().min(0).max(2_147_483_647).optional(),
  stopSequences: z.array(z.string().min(1).max(100)).max(8).optional(),
})

/** The model an agent uses. It never contains a key, only a reference to the secret with the key. */
export const ModelConfig = z
  .strictObject({
    provider: z.enum(PROVIDERS).describe('Who runs the model. `scripted` needs no key and is for trying things out.'),
    modelId: z.string().trim().min(1).max(200).describe('The provider’s name for the model.'),
    /** The address of an OpenAI-compatible service, such as `https://llm.example.com/v1`. */
    baseUrl: z
      .string()
      .max(2000)
      .refine((text) => isHttpUrl(text), 'must be an http(s) URL without credentials')
      .optional()
      .describe('Only for `openai-compatible`: the service’s address, such as `https://llm.example.com/v1`.'),
    apiKey: z
      .string()
      .regex(
        /^\$\{secrets\.[A-Za-z_][A-Za-z0-9_]{0,99}\}$/,
        'must refer to a secret, such as ${secrets.OPENAI_API_KEY}',
      )
      .optional()
      .describe(
        'A reference to the secret that holds the key, such as `${secrets.OPENAI_API_KEY}`; never the key itself. A secret that is bound to hosts must be bound to the host the model is called at.',
      ),
    settings: ModelSettings.default({}).describe('Model settings. Unknown ones are refused.'),
    prices: z
      .union([
        z.literal('list'),
        z.strictObject({ input: z.number().min(0).max(1e6), output: z.number().min(0).max(1e6) }),
      ])
      .optional()
      .describe(
        'US dollars per million tokens, or `list` for the list price of the model. With prices set, responses report their cost.',
      ),
  })
  .superRefine((model, check) => {
    const wantsUrl = model.provider === 'openai-compatible'
    if (wantsUrl === (model.baseUrl !== undefined)) return
    const message = wantsUrl ? 'is required for openai-compatible' : 'is only for openai-compatible'
    check.addIssue({ code: 'custom', path: ['baseUrl'], message })
  })
  .register(components, { id: 'ModelConfig' })
export type ModelConfig = Model

/** The models that answer in place of an agent's own, and when. */
export const fallbackFields = {
  fallbacks: z
    .array(ModelConfig.refine(({ provider }) => provider !== 'scripted', 'must be a model, not the scripted one'))
    .max(3)
    .describe('The models that answer if `model` gives no answer, in this order. One without a key is left out.'),
  fallbackOn: z
    .array(z.enum(FAILURE_KINDS))
    .min(1)
    .max(FAILURE_KINDS.length)
    .describe(
      'When the next model answers: if one is `unavailable` (no connection, no answer in time, 5xx) or `rate-limited`, which are the default; if its `key` is refused, the conversation is `too-long` for it, or it `refused` to answer.',
    ),
}

export const SCRIPTED_MODEL: ModelConfig = { provider: 'scripted', modelId: 'scripted', settings: {} }

function isHttpUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  return (protocol === 'http:' || protocol === 'https:') && username === '' && password === ''
}
