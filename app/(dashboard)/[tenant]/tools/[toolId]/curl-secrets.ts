import { isJsonObject, type JsonValue } from '@/server/definition/json'
import { looksSecret } from '@/server/definition/secret-name'
import type { ImportedCall } from './imported-call'

/** A secret of an imported call, which has `${secrets.NAME}` in its place. */
export interface FoundSecret {
  name: string
  /** Null if the command has a variable of the shell instead. */
  value: string | null
  /** The header, parameter or field. */
  place: string
}

/** Shorter values of parameters and fields are words such as a country's code. The vault has the same minimum. */
export const MIN_SECRET = 12
const SCHEME = /^((?:bearer|basic|token|apikey|digest) +)(.+)$/i
const VARIABLE = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/

/** The call without the values that grant access: in headers, in the query and in the body. */
export function withoutSecrets(call: ImportedCall): { call: ImportedCall; secrets: FoundSecret[] } {
  const secrets: FoundSecret[] = []
  const prefix = prefixOf(call.url)
  const hide = (place: string, value: string): string => {
    if (value.includes('${secrets.')) return value
    const [, variable, braced] = VARIABLE.exec(value) ?? []
    const plain = variable ?? braced
    const known = secrets.find((one) => (plain ? one.name === plain : one.value === value))
    if (known) return `\${secrets.${known.name}}`
    const wanted = plain ?? `${prefix}_${/auth/i.test(place) ? 'TOKEN' : nameOf(place)}`
    const taken = new Set(secrets.map(({ name }) => name))
    const name =
      [wanted, ...Array.from(secrets, (_, n) => `${wanted}_${n + 2}`)].find((one) => !taken.has(one)) ?? wanted
    secrets.push({ name, value: plain ? null : value, place })
    return `\${secrets.${name}}`
  }
  const headers = Object.entries(call.headers).map(([name, value]) => {
    if (!looksSecret(name, value) && !VARIABLE.test(value)) return [name, value] as const
    const [, scheme = '', rest = value] = SCHEME.exec(value) ?? []
    return [name, scheme + hide(name, rest)] as const
  })
  const hideIn = (value: JsonValue, name: string): JsonValue => {
    if (Array.isArray(value)) return value.map((item) => hideIn(item, name))
    if (isJsonObject(value))
      return Object.fromEntries(Object.entries(value).map(([inner, item]) => [inner, hideIn(item, inner)]))
    return typeof value === 'string' && isSecret(name, value) ? hide(name, value) : value
  }
  const { body } = call
  return {
    call: {
      ...call,
      url: hideInQuery(call.url, hide),
      headers: Object.fromEntries(headers),
      ...(body === undefined ? {} : { body: hideIn(body, '') }),
    },
    secrets,
  }
}

function isSecret(name: string, value: string): boolean {
  return VARIABLE.test(value) || (name !== '' && value.trim().length >= MIN_SECRET && looksSecret(name, value))
}

function hideInQuery(url: string, hide: (place: string, value: string) => string): string {
  const [address = '', ...rest] = url.split('?')
  if (rest.length === 0) return url
  const pairs = rest.join('?').split('&')
  const hidden = pairs.map((pair) => {
    const [name = '', ...value] = pair.split('=')
    const plain = decoded(value.join('='))
    return isSecret(decoded(name), plain) ? `${name}=${hide(decoded(name), plain)}` : pair
  })
  return `${address}?${hidden.join('&')}`
}

export function decoded(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return text
  }
}

/** `EXAMPLE` for `https://api.example.com/orders`. */
function prefixOf(url: string): string {
  const host = /^https?:\/\/([^/?#:]+)/i.exec(url)?.[1] ?? ''
  const labels = host.split('.').filter((label) => label !== 'www' && label !== 'api')
  const name = nameOf((labels.length > 1 ? labels.slice(0, -1) : labels).join('_'))
  return /^[A-Z_]/.test(name) ? name : `HOST_${name}`
}

function nameOf(text: string): string {
  const name = text.replace(/[^A-Za-z0-9]+/g, '_').replace(/^(?:x_)|^_+|_+$/gi, '')
  return name.toUpperCase().slice(0, 40) || 'KEY'
}
