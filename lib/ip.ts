import ipaddr from 'ipaddr.js'

/**
 * The only block IANA has assigned for global unicast. ipaddr.js also calls other addresses unicast, such as
 * `::7f00:1`.
 */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR('2000::/3')

/** A public address, but on Azure the host of every virtual machine answers it with metadata and keys. */
const AZURE_HOST = '168.63.129.16'

/** Whether an address is on the public internet: global unicast only. False for anything that cannot be parsed. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false
  const ip = ipaddr.process(address)
  if (ip.range() !== 'unicast') return false
  if (ip instanceof ipaddr.IPv6) return ip.match(GLOBAL_IPV6)
  return ip.toString() !== AZURE_HOST
}

/** A host name in lower case, without brackets or a trailing dot. */
export function plainHost(host: string): string {
  return host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase()
}

export function isAddress(host: string): boolean {
  return ipaddr.isValid(host)
}

type Entry =
  | { kind: 'range'; range: [ipaddr.IPv4 | ipaddr.IPv6, number]; port: number | null }
  | { kind: 'name'; name: string; port: number | null }
  | { kind: 'below'; ending: string; port: number | null }

/** A list of hosts: private hosts a self-hoster has opened, the only hosts a tool may call, or those of a secret. */
export class AllowedHosts {
  private constructor(private readonly entries: readonly Entry[]) {}

  static readonly none = new AllowedHosts([])

  /**
   * @param text a comma-separated list of `host`, `host:port`, `[v6]:port`, addresses or CIDR ranges
   * @param options.wildcards allows `*.example.com`: every name below `example.com`, but not `example.com` itself
   * @returns null if an entry is none of these
   */
  static parse(text: string, options: { wildcards?: boolean } = {}): AllowedHosts | null {
    const entries: Entry[] = []
    for (const part of text.split(',').map((piece) => piece.trim())) {
      if (part === '') continue
      const entry = (options.wildcards ? parseWildcard(part) : null) ?? parseEntry(part)
      if (!entry) return null
      entries.push(entry)
    }
    return new AllowedHosts(entries)
  }

  /** @param entries already checked by `parse` */
  static of(entries: readonly string[], options: { wildcards?: boolean } = {}): AllowedHosts {
    return AllowedHosts.parse(entries.join(','), options) ?? AllowedHosts.none
  }

  /** A listed name may resolve to any address. */
  allowsName(host: string, port: number): boolean {
    const name = plainHost(host)
    return this.entries.some((entry) => fits(entry, port) && names(entry, name))
  }

  allowsAddress(address: string, port: number): boolean {
    if (!ipaddr.isValid(address)) return false
    const ip = ipaddr.process(address)
    return this.entries.some((entry) => entry.kind === 'range' && fits(entry, port) && within(ip, entry.range))
  }

  /** Whether the host of a URL is listed as written; a name is not resolved. */
  allowsHost(host: string, port: number): boolean {
    return isAddress(host) ? this.allowsAddress(host, port) : this.allowsName(host, port)
  }
}

function fits(entry: Entry, port: number): boolean {
  return entry.port === null || entry.port === port
}

function names(entry: Entry, name: string): boolean {
  if (entry.kind === 'below') return name.endsWith(entry.ending) && name.length > entry.ending.length
  return entry.kind === 'name' && entry.name === name
}

function within(ip: ipaddr.IPv4 | ipaddr.IPv6, [network, bits]: [ipaddr.IPv4 | ipaddr.IPv6, number]): boolean {
  if (ip instanceof ipaddr.IPv4) return network instanceof ipaddr.IPv4 && ip.match(network, bits)
  return network instanceof ipaddr.IPv6 && ip.match(network, bits)
}

const NAME = /^(?=.{1,253}$)[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$/

/** Whether a name service may know the host, judging by its form. */
export function isHostName(host: string): boolean {
  return NAME.test(host)
}

function parseEntry(part: string): Entry | null {
  if (part.includes('/')) {
    if (!ipaddr.isValidCIDR(part)) return null
    return { kind: 'range', range: ipaddr.parseCIDR(part), port: null }
  }
  const bare = ipaddr.isValid(part)
  const [, host = part, portText] = bare ? [] : (/^(.+):(\d{1,5})$/.exec(part) ?? [])
  const port = portText === undefined ? null : Number(portText)
  if (port !== null && (port < 1 || port > 65_535)) return null
  const name = plainHost(host)
  if (isWholeAddress(name)) {
    const ip = ipaddr.process(name)
    return { kind: 'range', range: [ip, ip instanceof ipaddr.IPv4 ? 32 : 128], port }
  }
  return NAME.test(name) ? { kind: 'name', name, port } : null
}

/** A wildcard needs two labels after it: a wildcard for every name below `com` is never meant. */
function parseWildcard(part: string): Entry | null {
  if (!part.startsWith('*.')) return null
  const entry = parseEntry(part.slice(2))
  if (entry?.kind !== 'name' || !entry.name.includes('.')) return null
  return { kind: 'below', ending: `.${entry.name}`, port: entry.port }
}

/** Accepts IPv4 only as four decimal parts: `7` and `0x7f.1` are valid too, but such an address is a mistake. */
function isWholeAddress(text: string): boolean {
  return ipaddr.IPv6.isValid(text) || ipaddr.IPv4.isValidFourPartDecimal(text)
}
