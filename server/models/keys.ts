import type { ServiceContext } from '../context'
import { env } from '../env'
import { readVaultSecrets, SecretMissing } from '../vault/read'
import { ModelFailure } from './failure'
import type { ModelConfig } from './schema'

/** A tenant's own keys are vault secrets under these names. */
export const KEY_NAMES = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const

/**
 * The key for a provider: the secret the agent refers to, else the tenant's secret with the well-known name, else the
 * installation's key, which is never sent to an address a user chose.
 * @throws ModelFailure when the agent refers to a secret that does not exist
 */
export async function resolveKey(ctx: ServiceContext, config: ModelConfig): Promise<string | undefined> {
  const { provider, apiKey } = config
  if (provider === 'scripted') return undefined
  const named = apiKey?.slice('${secrets.'.length, -1)
  if (named !== undefined) {
    const value = await readSecret(ctx, named)
    if (value === undefined) throw new ModelFailure(provider, `needs the secret ${named}, which is not in the vault`)
    return value
  }
  if (provider === 'openai-compatible') return undefined
  const name = KEY_NAMES[provider]
  return (await readSecret(ctx, name)) ?? env()[name]
}

async function readSecret(ctx: ServiceContext, name: string): Promise<string | undefined> {
  try {
    return (await readVaultSecrets(ctx, [name])).get(name)
  } catch (err) {
    if (err instanceof SecretMissing) return undefined
    throw err
  }
}
