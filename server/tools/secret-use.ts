import type { ErrorDetail } from '../errors'
import { neverCalled } from '../net/vet'
import type { SecretUse } from '../vault/misplaced'
import { partsOf, secretsIn } from './kinds/templates'
import type { ToolDefinition } from './schema'

/** The secrets a tool sends and where; null for kinds that cannot use secrets, such as scripts. */
export function secretUse({ kind, config }: Pick<ToolDefinition, 'kind' | 'config'>): SecretUse | null {
  if (kind !== 'http' && kind !== 'mcp') return null
  const url = typeof config.url === 'string' ? fixedAddress(config.url) : null
  return url && { names: secretsIn(config), url, path: 'config.url' }
}

/** A tool's URL up to its first `${…}`. If the tool uses secrets, that includes the host: see `HttpConfig`. */
export function fixedAddress(url: string): URL | null {
  const [start] = partsOf(url)
  return typeof start === 'string' && URL.canParse(start) ? new URL(start) : null
}

/** Rejects an address that could never be called. An address from the caller is checked by the call. */
export function addressProblems({ kind, config }: Pick<ToolDefinition, 'kind' | 'config'>): ErrorDetail[] {
  const url = (kind === 'http' || kind === 'mcp') && typeof config.url === 'string' ? fixedAddress(config.url) : null
  const message = url && neverCalled(url)
  return message === null ? [] : [{ path: 'config.url', message }]
}
