import { isIPv6 } from 'node:net'
import { env } from '../env'

/**
 * The address a request came from, for counting. Unless proxies are trusted, the web process removes the client's
 * `x-forwarded-for`, and Next then writes the connection's own address there.
 * @param proxies how many trusted proxies append to the header; anyone may have written the entries before theirs
 */
export function addressOf(headers: Headers, proxies: number): string {
  const hops = (headers.get('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim())
  const address = hops.at(-Math.max(1, Math.min(proxies, hops.length))) || 'unknown'
  if (!isIPv6(address)) return address.slice(0, 64)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? network(address)
}

/** Where a request came from, for the audit log: read only when something is changed. */
export function fromAddress(headers: Headers): () => string | null {
  return () => {
    const address = addressOf(headers, env().TRUST_PROXY)
    return address === 'unknown' ? null : address
  }
}

/**
 * The first 64 bits: one customer of an internet provider usually owns all addresses that share them. The machine
 * itself has one address.
 */
function network(address: string): string {
  const groups = groupsOf(address)
  if (groups.every((group, at) => group === (at === 7 ? '1' : '0'))) return '::1'
  return `${shortest(groups.slice(0, 4))}/64`
}

/** The eight groups of an IPv6 address, without leading zeros. */
function groupsOf(address: string): string[] {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const split = (text: string) => (text === '' ? [] : text.split(':'))
  const left = split(head)
  const right = split(tail ?? '')
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length)
  return [...left, ...Array<string>(zeros).fill('0'), ...right].map((group) => group.replace(/^0+(?=.)/, ''))
}

/** The start of an address whose other groups are zero: `2001:db8::`. */
function shortest(groups: string[]): string {
  const last = groups.findLastIndex((group) => group !== '0')
  return `${groups.slice(0, last + 1).join(':')}::`
}
