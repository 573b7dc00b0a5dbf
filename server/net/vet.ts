import { lookup } from 'node:dns/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AllowedHosts, isAddress, isHostName, isPublicAddress, plainHost } from '@/lib/ip'
import { log } from '../log'
import { allowedHosts } from './allowed-hosts'
import { OutboundFailure } from './outbound-failure'

export interface Address {
  address: string
  family: 4 | 6
}

/** Resolves a name to all its addresses. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

/**
 * Throws for a URL that must not be called.
 * @param inTheOpen it was looked up, and leads over plain `http` to the public internet
 */
export type CheckUrl = (url: URL, inTheOpen?: boolean) => void

/** A refused name takes at least this long, because a quick response would reveal whether the name exists. */
const REFUSAL_MS = 250
/** The name service found no such name, or no address for it. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA'])

/** A URL that may be called and the only addresses it may connect to. */
export interface Vetted {
  url: URL
  /** Without brackets. */
  host: string
  port: number
  addresses: [Address, ...Address[]]
}

/**
 * Parses a URL, resolves its host once and checks every address: only public ones, unless the host is allowed. A host
 * that `only` does not list or `check` refuses is not even looked up.
 * @throws OutboundFailure BLOCKED_HOST, also for unknown names; CONNECTION_ERROR when the name service does not respond
 * @throws the errors of `check`
 */
export async function vet(
  target: string | URL,
  options: { allowed: AllowedHosts; only?: AllowedHosts | undefined; check?: CheckUrl | undefined; resolve?: Resolve },
): Promise<Vetted> {
  const url = parse(target)
  const { host, port } = targetOf(url)
  options.check?.(url)
  if (options.only && !options.only.allowsHost(host, port)) {
    throw new OutboundFailure('BLOCKED_HOST', `The tool may not call the host ${plainHost(host)}.`)
  }
  refuseForm(url, options.allowed)
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
  if (first && !closed) {
    const open = ({ address }: Address) => isPublicAddress(address) && !options.allowed.allowsAddress(address, port)
    if (url.protocol === 'http:' && !trusted && checked.some(open)) options.check?.(url, true)
    return { url, host, port, addresses: [first, ...others] }
  }
  log().info(
    { host: plainHost(host), reason: closed ? 'private address' : 'no address' },
    'an outbound call was refused',
  )
  if (!isAddress(host)) await sleep(REFUSAL_MS - (performance.now() - startedAt))
  throw trusted ? unreachable(host) : blocked(host)
}

/**
 * Why an address can never be called, regardless of the name service: a message for the person who enters it, by the
 * rule of the calls. Null if it may be called.
 */
export function neverCalled(target: string | URL): string | null {
  try {
    refuseForm(parse(target), allowedHosts())
    return null
  } catch (err) {
    if (err instanceof OutboundFailure) return err.message
    throw err
  }
}

/**
 * Refuses URLs that no lookup could make valid: a private address, a name of this machine or no name at all, and port
 * 0.
 */
function refuseForm(url: URL, allowed: AllowedHosts): void {
  const { host, port } = targetOf(url)
  if (port === 0) throw new OutboundFailure('BLOCKED_HOST', 'Nothing can be called at the port 0.')
  if (allowed.allowsHost(host, port)) return
  const name = plainHost(host)
  if (isAddress(host) ? isPublicAddress(host) : isHostName(name) && !/^(.*\.)?localhost$/.test(name)) return
  throw blocked(host)
}

/** The host as the URL parser normalised it: 2130706433, 0x7f.1 and full-width digits have become 127.0.0.1. */
export function targetOf(url: URL): { host: string; port: number } {
  const host = url.hostname.replace(/^\[|\]$/g, '')
  return { host, port: Number(url.port || (url.protocol === 'https:' ? 443 : 80)) }
}

function parse(target: string | URL): URL {
  let url: URL
  try {
    url = new URL(target)
  } catch {
    throw new OutboundFailure('BLOCKED_HOST', 'The URL is not valid.')
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundFailure('BLOCKED_HOST', 'Only http and https URLs are allowed.')
  if (url.username !== '' || url.password !== '')
    throw new OutboundFailure('BLOCKED_HOST', 'The URL must not contain a user name or password.')
  return url
}

/** One message for private and for unknown names, so it does not reveal which private names exist. */
function blocked(host: string): OutboundFailure {
  return new OutboundFailure(
    'BLOCKED_HOST',
    `The host ${plainHost(host)} is not on the public internet. ALLOW_PRIVATE_HOSTS allows private hosts.`,
  )
}

function unreachable(host: string, cause?: unknown): OutboundFailure {
  return new OutboundFailure('CONNECTION_ERROR', `The host ${plainHost(host)} could not be looked up.`, { cause })
}

/** All addresses of a name, empty if no such name exists. */
async function resolved(host: string, trusted: boolean, resolve: Resolve): Promise<{ address: string }[]> {
  try {
    return await resolve(host)
  } catch (err) {
    const code = err instanceof Error && 'code' in err ? String(err.code) : ''
    if (NO_SUCH_NAME.has(code) && !trusted) return []
    throw unreachable(host, err)
  }
}
