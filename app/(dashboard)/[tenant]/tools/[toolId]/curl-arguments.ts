import { isJsonObject, type JsonObject, type JsonValue } from '@/server/definition/json'
import { derivedName } from '../../_fields/derived-name'
import { decoded } from './curl-secrets'
import type { ImportedCall } from './imported-call'

/** A value of an imported call that may become an argument of the tool. */
export interface CallValue {
  /** Its place, such as `query/0` or `body/customer/name`. */
  key: string
  /** The argument's name. */
  name: string
  value: JsonValue
}

/** As in a JSON pointer, so that no two places are the same. */
const inside = (path: string, name: string) => `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`

const MAX_VALUES = 40
const MAX_DEPTH = 4

/** The values in a call's query and body, without those that are templates already. */
export function valuesOf({ url, body }: ImportedCall): CallValue[] {
  const found: CallValue[] = []
  const taken = new Set<string>()
  const add = (key: string, last: string, value: JsonValue) => {
    if (found.length >= MAX_VALUES || (typeof value === 'string' && value.includes('${'))) return
    const name = derivedName(last, taken, 'value')
    taken.add(name)
    found.push({ key, name, value })
  }
  for (const { name, value, index } of paramsOf(url)) add(`query/${index}`, name, value)
  const visit = (value: JsonValue, path: string, last: string, depth: number) => {
    if (isJsonObject(value) && depth < MAX_DEPTH) {
      for (const [name, item] of Object.entries(value)) visit(item, inside(path, name), name, depth + 1)
    } else add(path, last, value)
  }
  if (isJsonObject(body)) visit(body, 'body', '', 0)
  return found
}

/** The call with `${args.x}` in place of the chosen values, and the types of these arguments. */
export function withValues(
  call: ImportedCall,
  chosen: readonly CallValue[],
): { call: ImportedCall; types: JsonObject } {
  const names = new Map(chosen.map(({ key, name }) => [key, name]))
  const replaced = (value: JsonValue, path: string): JsonValue => {
    const name = names.get(path)
    if (name !== undefined) return `\${args.${name}}`
    if (!isJsonObject(value)) return value
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, replaced(item, inside(path, key))]))
  }
  const { body } = call
  return {
    call: { ...call, url: urlWith(call.url, names), ...(body === undefined ? {} : { body: replaced(body, 'body') }) },
    types: Object.fromEntries(chosen.map(({ key, name, value }) => [name, typeOf(value, key)])),
  }
}

/** A query is text, so a number in it may be any. */
function typeOf(value: JsonValue, key: string): JsonObject {
  if (key.startsWith('query/') || value === null || Array.isArray(value) || isJsonObject(value)) return {}
  return { type: typeof value }
}

function paramsOf(url: string): { name: string; value: string; index: number }[] {
  return partsOf(url).pairs.flatMap((pair, index) => {
    const [name = '', ...value] = pair.split('=')
    return name === '' || value.length === 0 ? [] : [{ name: decoded(name), value: decoded(value.join('=')), index }]
  })
}

function urlWith(url: string, names: ReadonlyMap<string, string>): string {
  const { address, pairs } = partsOf(url)
  if (pairs.length === 0) return url
  const next = pairs.map((pair, index) => {
    const name = names.get(`query/${index}`)
    return name === undefined ? pair : `${pair.split('=', 1)[0]}=\${args.${name}}`
  })
  return `${address}?${next.join('&')}`
}

function partsOf(url: string): { address: string; pairs: string[] } {
  const [address = '', ...rest] = url.split('?')
  return { address, pairs: rest.length === 0 ? [] : rest.join('?').split('&') }
}
