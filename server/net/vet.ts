import { lookup } from 'node:dns/promises'
import { type AllowedHosts, isAddress, isPublicAddress, plainHost } from '../ip'
import { OutboundFailure } from './outbound-failure'

export interface Address {
  address: string
  family: 4 | 6
}

/** Resolves a name to all its addresses. */
export type Resolve = (host: string) => Promise<{ address: string; family: number }[]>

const systemResolve: Resolve = (host) => lookup(host, { all: true, verbatim: true })

/** A URL that may be called and the only addresses it may connect to. */
export interface Vetted {
  url: URL
  /** Without brackets. */
  host: string
  port: number
  addresses: [Address, ...Address[]]
}

/**
 * Parses a URL, resolves its host once and checks every address: only public ones, unless the host is allowed. With
 * `only`, a host that is not listed is not even looked up.
 * @throws OutboundFailure BLOCKED_HOST, CONNECTION_ERROR when the name has no address
 */
export async function vet(
  target: string | URL,
  options: { allowed: AllowedHosts; only?: AllowedHosts | undefined; resolve?: Resolve },
): Promise<Vetted> {
  const url = parse(target)
  // Check the host as the URL parser normalised it: 2130706433, 0x7f.1 and full-width digits are 127.0.0.1 by now.
  const host = url.hostname.replace(/^\[|\]$/g, '')
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (options.only && !options.only.allowsHost(host, port)) {
    throw new OutboundFailure('BLOCKED_HOST', `The tool may not call the host ${plainHost(host)}.`)
  }
  const addresses = isAddress(host) ? [{ address: host }] : await resolved(host, options.resolve ?? systemResolve)
  const trusted = options.allowed.allowsName(host, port)
  const checked = addresses.map(({ address }): Address => {
    if (!trusted && !isPublicAddress(address) && !options.allowed.allowsAddress(address, port)) throw blocked(host)
    return { address, family: address.includes(':') ? 6 : 4 }
  })
  const [first, ...others] = checked
  if (!first) throw new OutboundFailure('CONNECTION_ERROR', `The host ${plainHost(host)} has no address.`)
  return { url, host, port, addresses: [first, ...others] }
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

/** The same message for every address, so it does not reveal what a private name resolves to. */
function blocked(host: string): OutboundFailure {
  return new OutboundFailure(
    'BLOCKED_HOST',
    `The host ${plainHost(host)} is not on the public internet. ALLOW_PRIVATE_HOSTS allows private hosts.`,
  )
}

async function resolved(host: string, resolve: Resolve): Promise<{ address: string }[]> {
  try {
    return await resolve(host)
  } catch (err) {
    throw new OutboundFailure('CONNECTION_ERROR', `The host ${plainHost(host)} was not found.`, { cause: err })
  }
}
