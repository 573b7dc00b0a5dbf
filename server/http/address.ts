import { isIPv6 } from 'node:net'

/**
 * Whom a request came from, for counting. The web process removes what a client wrote into `x-forwarded-for` unless
 * proxies are trusted, and Next then notes the connection's own address there.
 * @param proxies how many proxies in front append to the header; what is left of theirs anybody may have written
 */
export function addressOf(headers: Headers, proxies: number): string {
  const hops = (headers.get('x-forwarded-for') ?? '').split(',').map((hop) => hop.trim())
  const address = hops.at(-Math.max(1, Math.min(proxies, hops.length))) || 'unknown'
  if (!isIPv6(address)) return address.slice(0, 64)
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)
  return mapped?.[1] ?? network(address)
}

/** The first 64 bits: a single customer of an Internet provider has all addresses that begin so. */
function network(address: string): string {
  const [head = '', tail] = (address.split('%')[0] ?? '').toLowerCase().split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':'))
  const left = groups(head)
  const right = groups(tail ?? '')
  const all =
    tail === undefined ? left : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill('0'), ...right]
  return `${all
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ''))
    .join(':')}::/64`
}
