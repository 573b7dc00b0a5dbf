import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AllowedHosts, isAddress, isPublicAddress, plainHost } from '../ip'
import { log } from '../log'
import { OutboundFailure } from './outbound-failure'

export interface Address {
  address: string
  family: 4 | 6
}

/** Asks the name service for all addresses of a name. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

/** A refused name is answered no sooner: how quickly the name service knew is another way to ask it. */
const REFUSAL_MS = 250
/** The name service has looked, and there is no such name or no address to it. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA'])

/** A URL that may be called, and the addresses it may be called at: no other is connected to. */
export interface Vetted {
  url: URL
  /** Without brackets. */
  host: string
  port: number
  addresses: [Address, ...Address[]]
}

/**
 * Parses a URL, resolves its host once and checks every address: only public ones, unless a host was opened. With
 * `only`, a host that is not listed there is not even looked up.
 * @throws OutboundFailure BLOCKED_HOST, also for a name that is not found; CONNECTION_ERROR when nobody could be asked
 */
export async function vet(
  target: string | URL,
  options: { allowed: AllowedHosts; only?: AllowedHosts | undefined; resolve?: Resolve },
): Promise<Vetted> {
  const url = parse(target)
  // Judged as the URL parser wrote it: 2130706433, 0x7f.1 and full-width digits have become 127.0.0.1 by now.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (options.only && !options.only.allowsHost(host, port)) {
    throw new OutboundFailure('BLOCKED_HOST', `The host ${plainHost(host)} is not one that the tool may call.`)
  }
  const trusted = options.allowed.allowsName(host, port)
  const startedAt = performance.now()
  const addresses = isAddress(host)
    ? [{ address: host }]
    : await resolved(host, trusted, options.resolve ?? systemResolve)
  const checked = addresses.map(({ address }): Address => ({ address, family: address.includes(':') ? 6 : 4 }))
  const [first, ...others] = checked
  const closed = checked.find(
    ({ address }) => !trusted && !isPublicAddress(address) && !options.allowed.allowsAddress(address, port),
  )
  if (first && !closed) return { url, host, port, addresses: [first, ...others] }
  log().info(
    { host: plainHost(host), reason: closed ? 'private address' : 'no address' },
    'an outbound call was refused',
  )
  if (!isAddress(host)) await sleep(REFUSAL_MS - (performance.now() - startedAt))
  throw trusted ? unreachable(host) : blocked(host)
}

function parse(target: string | URL): URL {
  let url: URL
  try {
    url = new URL(target)
  } catch {
    throw new OutboundFailure('BLOCKED_HOST', 'The URL is not a valid one.')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundFailure('BLOCKED_HOST', 'Only http and https URLs are called.')
  if (url.username !== '' || url.password !== '')
    throw new OutboundFailure('BLOCKED_HOST', 'The URL must not carry a user name or password.')
  return url
}

/** The same words whatever the name service said: which private names exist, and what they resolve to, is nobody's business. */
function blocked(host: string): OutboundFailure {
  return new OutboundFailure(
    'BLOCKED_HOST',
    `The host ${plainHost(host)} is not on the public internet. ALLOW_PRIVATE_HOSTS opens private ones.`,
  )
}

function unreachable(host: string, cause?: unknown): OutboundFailure {
  return new OutboundFailure('CONNECTION_ERROR', `The host ${plainHost(host)} could not be looked up.`, { cause })
}

/** All addresses of a name, none when there is no such name. */
async function resolved(host: string, trusted: boolean, resolve: Resolve): Promise<{ address: string }[]> {
  try {
    return await resolve(host)
  } catch (err) {
    const code = err instanceof Error && 'code' in err ? String(err.code) : ''
    if (NO_SUCH_NAME.has(code) && !trusted) return []
    throw unreachable(host, err)
  }
}
