import type { ServiceContext } from '../context'
import { own } from '../definition/json'
import { env } from '../env'
import type { ErrorDetail } from '../errors'
import { OutboundFailure } from '../net/outbound-failure'
import { neverCalled } from '../net/vet'
import type { SecretUse } from '../vault/misplaced'
import { readVaultSecrets, SecretMissing } from '../vault/read'
import { ModelFailure, toModelFailure } from './failure'
import type { ModelConfig } from './schema'

/** A tenant's own keys are vault secrets with these names. */
export const KEY_NAMES = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const

/** The providers' addresses, unless the installation has set a proxy. */
const HOMES = {
  openai: 'https://api.openai.com/v1',
  anthropic: 'https://api.anthropic.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
} as const

/** The address of a model, to which its key is sent; null for the scripted one and for an invalid base URL. */
export function addressOf({ provider, baseUrl }: ModelConfig): URL | null {
  switch (provider) {
    case 'scripted':
      return null
    case 'openai-compatible':
      return baseUrl !== undefined && URL.canParse(baseUrl) ? new URL(baseUrl) : null
    case 'openai':
      return new URL(env().OPENAI_BASE_URL ?? HOMES.openai)
    case 'anthropic':
      return new URL(env().ANTHROPIC_BASE_URL ?? HOMES.anthropic)
    case 'google':
      return new URL(env().GOOGLE_GENERATIVE_AI_BASE_URL ?? HOMES.google)
  }
}

/** Rejects an address that could never be called. Those of the installation may be private. */
export function addressProblems({ provider, baseUrl }: ModelConfig, path = 'model'): ErrorDetail[] {
  const message = provider === 'openai-compatible' && baseUrl !== undefined ? neverCalled(baseUrl) : null
  return message === null ? [] : [{ path: `${path}.baseUrl`, message }]
}

/** The secret that an agent refers to for its key, and its destination. */
export function keyUse(model: ModelConfig, path = 'model'): SecretUse | null {
  const name = namedSecret(model)
  const url = addressOf(model)
  if (name === undefined || url === null) return null
  return { names: [name], url, path: `${path}.${model.provider === 'openai-compatible' ? 'baseUrl' : 'apiKey'}` }
}

/**
 * The key for a provider: the secret the agent refers to, else the tenant's secret with the well-known name, else the
 * installation's key, which is never sent to an address a user chose.
 * @throws ModelFailure if the agent refers to a secret that does not exist, or the secret is not bound to the host
 */
export async function resolveKey(ctx: ServiceContext, config: ModelConfig): Promise<string | undefined> {
  const { provider } = config
  if (provider === 'scripted') return undefined
  const named = namedSecret(config)
  if (named !== undefined) {
    const value = await readSecret(ctx, named, config)
    if (value === undefined) throw new ModelFailure(provider, `needs the secret ${named}, which is not in the vault`)
    return value
  }
  if (provider === 'openai-compatible') return undefined
  const name = KEY_NAMES[provider]
  return (await readSecret(ctx, name, config)) ?? env()[name]
}

/** The secret that holds an agent's key: the one it refers to, else the one with the well-known name. */
export function keySecret(model: ModelConfig): string | undefined {
  return model.provider === 'scripted' ? undefined : (namedSecret(model) ?? own(KEY_NAMES, model.provider))
}

function namedSecret({ apiKey }: ModelConfig): string | undefined {
  return apiKey?.slice('${secrets.'.length, -1)
}

async function readSecret(ctx: ServiceContext, name: string, config: ModelConfig): Promise<string | undefined> {
  try {
    const { values, check } = await readVaultSecrets(ctx, [name])
    const url = addressOf(config)
    if (url) check(url)
    return values.get(name)
  } catch (err) {
    if (err instanceof SecretMissing) return undefined
    throw err instanceof OutboundFailure ? toModelFailure(err, config.provider) : err
  }
}
