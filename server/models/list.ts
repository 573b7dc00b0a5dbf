import { and, eq, inArray } from 'drizzle-orm'
import { vaultSecrets } from '@/db/schema/vault'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { own } from '../definition/json'
import { env } from '../env'
import { KEY_NAMES } from './keys'
import { PROVIDERS, type ProviderName } from './schema'

/** Suggested model ids; any other id the provider knows works too. */
const SUGGESTED: Record<ProviderName, string[]> = {
  scripted: ['scripted'],
  openai: ['gpt-5.4', 'gpt-5.4-mini', 'gpt-5.4-nano', 'gpt-4.1', 'gpt-4.1-mini', 'gpt-4o-mini'],
  anthropic: ['claude-opus-5', 'claude-sonnet-5', 'claude-sonnet-4-6', 'claude-haiku-4-5'],
  google: ['gemini-2.5-pro', 'gemini-2.5-flash', 'gemini-2.5-flash-lite', 'gemini-flash-latest'],
  'openai-compatible': [],
}

const LABELS: Record<ProviderName, string> = {
  scripted: 'Scripted (offline)',
  openai: 'OpenAI',
  anthropic: 'Anthropic',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible service',
}

/**
 * The providers an agent may use and whether each has a key: the workspace's own in its vault, or the installation's.
 * Never includes the key.
 */
export async function listProviders(ctx: ServiceContext) {
  authorize(ctx, 'agent:read')
  const names = Object.values(KEY_NAMES)
  const rows = await ctx.db
    .select({ name: vaultSecrets.name })
    .from(vaultSecrets)
    .where(and(eq(vaultSecrets.tenantId, ctx.tenantId), inArray(vaultSecrets.name, names)))
  const inVault = new Set(rows.map(({ name }) => name))
  return PROVIDERS.map((provider) => {
    const keyName = own(KEY_NAMES, provider) ?? null
    const key: 'vault' | 'installation' | 'missing' | null =
      keyName === null ? null : inVault.has(keyName) ? 'vault' : env()[keyName] ? 'installation' : 'missing'
    return {
      provider,
      label: LABELS[provider],
      /** The key's name in the vault; null without a key, or if only the agent's own reference names it. */
      keyName,
      key,
      models: SUGGESTED[provider],
    }
  })
}
