import '../definition/zod-words'
import { domainToASCII } from 'node:url'
import { z } from 'zod'
import { AllowedHosts, isAddress } from '@/lib/ip'
import { OutboundFailure } from '../net/outbound-failure'
import { targetOf } from '../net/vet'

const MAX_HOSTS = 50

/** The hosts of a secret, normalised: lower case, ASCII, no duplicates. */
export const SecretHosts = z
  .array(
    z
      .string()
      .max(300)
      .transform((text, ctx) => {
        const host = normalHost(text)
        if (host !== null) return host
        ctx.addIssue({
          code: 'custom',
          message:
            'must be a host such as api.example.com, *.example.com or api.example.com:8443, without https:// or a path',
        })
        return z.NEVER
      }),
  )
  .min(1, 'must name at least one host')
  .max(MAX_HOSTS, `must name at most ${MAX_HOSTS} hosts`)
  .transform((hosts) => [...new Set(hosts)])

const PATTERN = /^(\*\.)?(\[[^\]]*\]|[^\s,:/\\?#@%]*)((?::\d{1,5})?)$/

/** Null if it is not a host. International names become ASCII, as in a parsed URL, so that the two compare equal. */
function normalHost(text: string): string | null {
  // `PATTERN` rejects paths and ports that `domainToASCII` would silently cut off.
  const [, wildcard = '', name = '', port = ''] = PATTERN.exec(text.trim()) ?? []
  if (name.startsWith('[')) return wildcard === '' ? checked(`${name.toLowerCase()}${port}`) : null
  const ascii = domainToASCII(name).replace(/\.$/, '')
  // URLs accept 7 and 0x7f.1 as addresses, but such a host is a mistake.
  if (ascii === '' || (isAddress(ascii) && ascii !== name)) return null
  return checked(`${wildcard}${ascii}${port}`)
}

function checked(host: string): string | null {
  return AllowedHosts.parse(host, { wildcards: true }) === null ? null : host
}

/** The hosts a secret may be sent to; null means unbound: any host. */
export interface Binding {
  name: string
  hosts: readonly string[] | null
}

export function mayReceive({ hosts }: Pick<Binding, 'hosts'>, url: URL): boolean {
  const { host, port } = targetOf(url)
  return hosts === null || AllowedHosts.of(hosts, { wildcards: true }).allowsHost(host, port)
}

/** Omits the secret's hosts, because the reader may not be allowed to see the vault. */
export function notBound(name: string, url: URL): string {
  return `The secret ${name} is not bound to ${url.host}. An admin can bind it there in the vault.`
}

export function notEncrypted(name: string, url: URL): string {
  return `The secret ${name} would be sent to ${url.host} without encryption. Use https.`
}

/**
 * @param inTheOpen the call would go over plain `http` to the public internet
 * @throws OutboundFailure SECRET_NOT_ALLOWED if one of the secrets may not be sent there
 */
export function refuseElsewhere(bindings: readonly Binding[], url: URL, inTheOpen = false): void {
  const refused = bindings.find((binding) => !mayReceive(binding, url))
  if (refused) throw new OutboundFailure('SECRET_NOT_ALLOWED', notBound(refused.name, url))
  const [any] = inTheOpen ? bindings : []
  if (any) throw new OutboundFailure('SECRET_NOT_ALLOWED', notEncrypted(any.name, url))
}
