import { Agent as HttpAgent, type RequestOptions } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import { processWide } from '@/db/process-wide'
import type { Vetted } from './vet'

/** How long an idle connection stays open: less than servers commonly allow, so that few are closed during a call. */
const IDLE_MS = 4_000
const MAX_IDLE = 8

interface PooledOptions extends RequestOptions {
  /** Calls share a connection only if this is the same. */
  sharedBy: string
}

const SETTINGS = { keepAlive: true, maxFreeSockets: MAX_IDLE, timeout: IDLE_MS }

class PooledHttp extends HttpAgent {
  override getName(options: PooledOptions): string {
    return `${super.getName(options)}:${options.sharedBy}`
  }
}

class PooledHttps extends HttpsAgent {
  override getName(options: PooledOptions): string {
    return `${super.getName(options)}:${options.sharedBy}`
  }
}

const agents = () =>
  processWide('net.connections', () => ({ http: new PooledHttp(SETTINGS), https: new PooledHttps(SETTINGS) }))

/**
 * Request options that hold the connection open for the next call, which uses it only if it was made for the same owner
 * and leads to exactly the addresses that the next call was checked for.
 */
export function pooledAgent(owner: string, { url, addresses }: Vetted): { agent: HttpAgent; sharedBy: string } {
  const { http, https } = agents()
  const to = addresses.map(({ address }) => address).sort()
  return { agent: url.protocol === 'https:' ? https : http, sharedBy: JSON.stringify([owner, ...to]) }
}

const REPEATABLE = new Set(['GET', 'HEAD', 'OPTIONS', 'PUT', 'DELETE'])

/**
 * Whether a request may be sent twice. Only such a request may use a connection that the server might just be closing:
 * then it has to be sent again.
 */
export function isRepeatable({ method, headers }: { method: string; headers: Record<string, string> }): boolean {
  return REPEATABLE.has(method) || 'idempotency-key' in headers
}
