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
/** The shell replaces these, so the command does not have the value. */
const FROM_SHELL = /[$`]/
const VARIABLE = /^\$(?:([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})$/

/**
 * The call without the values that grant access: in headers, in the query and in the body. Notes name the parts that
 * may have some still.
 */
export function withoutSecrets(call: ImportedCall): { call: ImportedCall; secrets: FoundSecret[]; notes: string[] } {
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
    secrets.push({ name, value: FROM_SHELL.test(value) ? null : value, place })
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
  const hidden: ImportedCall = {
    ...call,
    url: hideInQuery(call.url, hide),
    headers: Object.fromEntries(headers),
    ...(body === undefined ? {} : { body: hideIn(body, '') }),
  }
  return { call: hidden, secrets, notes: leftNotes(hidden) }
}

/** Names of values that grant access at any length. */
const PASSWORD = /pass(?:word|wd|phrase|code)|pwd|(?:^|[^a-z])pass$/i

function isSecret(name: string, value: string): boolean {
  if (VARIABLE.test(value)) return true
  const text = value.trim()
  if (name === '' || text === '' || !looksSecret(name, value)) return false
  return text.length >= MIN_SECRET || PASSWORD.test(name) || FROM_SHELL.test(text)
}

/** The characters of a path's part that may be a key: a bot's token, or the last part of a webhook. */
const LONG_PART = 20
/** Such as `customer-subscriptions`. */
const WORDS = /^(?:[a-z]{1,19}[-_])+[a-z]{1,19}$/
/** A name as forms have it. */
const PLAIN_NAME = /^[\w.[\]$:-]{1,100}$/
/** A count such as `max_tokens` is no secret, a PIN is one. */
const NUMBER_SECRET = /pass|pwd|pin|otp|code|secret|credential/i

/** The parts of a call in which a secret may have stayed. */
function leftNotes({ url, body, bodyType }: ImportedCall): string[] {
  const isOdd = bodyType === 'form' && isJsonObject(body) && !Object.keys(body).every((name) => PLAIN_NAME.test(name))
  const [address = ''] = url.split(/[?#]/, 1)
  const parts = address.split('/').slice(3)
  const isLong = parts.some((part) => part.includes('$') || (part.length >= LONG_PART && !WORDS.test(part)))
  const names = new Set(body === undefined ? [] : leftIn(body, ''))
  for (const [name, value] of new URLSearchParams(url.split('?').slice(1).join('?')))
    if (isLeft(name, value)) names.add(name)
  return [
    ...(bodyType === 'text' || isOdd ? ['The body stays as it is. Move secrets in it to the vault.'] : []),
    ...(isLong ? ['The path of the URL stays as it is. If a part of it is a secret, move it to the vault.'] : []),
    ...(names.size === 0
      ? []
      : [`These values stay as they are: ${[...names].join(', ')}. Move secrets to the vault.`]),
  ]
}

function leftIn(value: JsonValue, name: string): string[] {
  if (Array.isArray(value)) return value.flatMap((item) => leftIn(item, name))
  if (isJsonObject(value)) return Object.entries(value).flatMap(([inner, item]) => leftIn(item, inner))
  return isLeft(name, value) ? [name] : []
}

function isLeft(name: string, value: JsonValue): boolean {
  if (typeof value === 'number') return looksSecret(name, String(value)) && NUMBER_SECRET.test(name)
  return typeof value === 'string' && value.trim() !== '' && !value.includes('${') && looksSecret(name, value)
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
