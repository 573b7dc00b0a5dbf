import { isJsonObject } from '../../definition/json'
import { asText, findReferences, follow, type Lookup, parseTemplate, resolveTemplates } from '../../definition/template'
import { filledHeader } from './filled-header'
import { withKey } from './headers'
import type { HttpConfig } from './http-config'
import { BadValue } from './outbound'

const MAX_REQUEST = 2 * 1024 * 1024

interface OutgoingRequest {
  method: string
  url: string
  headers: Record<string, string>
  body?: string
}

/**
 * Builds the request from the configuration and the caller's values.
 * @throws BadValue, UnresolvedReference
 */
export function buildRequest(config: HttpConfig, lookup: Lookup, idempotencyKey: string | null): OutgoingRequest {
  refuseLargeRequest(config, lookup)
  const headers = new Map<string, string>()
  for (const [name, template] of Object.entries(config.headers)) {
    headers.set(name.toLowerCase(), filledHeader(name, template, lookup))
  }
  const url = withQuery(urlOf(config.url, lookup), config.query, lookup)
  const body = bodyOf(config, lookup)
  if (body && !headers.has('content-type')) headers.set('content-type', body.type)
  if (!headers.has('accept') && config.result === 'json') headers.set('accept', 'application/json')
  return {
    method: config.method,
    url,
    headers: withKey(config.method, Object.fromEntries(headers), idempotencyKey),
    ...(body ? { body: body.text } : {}),
  }
}

/**
 * Computes the size before building anything: a template that uses a large value a thousand times would fill the
 * memory.
 */
function refuseLargeRequest(config: HttpConfig, lookup: Lookup): void {
  const sizes = new Map<string, number>()
  let total = 0
  const { url, headers, query, body } = config
  for (const { reference } of findReferences({ url, headers, query, body }).references) {
    const size = sizes.get(reference.source) ?? asText(follow(reference, lookup)).length
    sizes.set(reference.source, size)
    total += size
    if (total > MAX_REQUEST)
      throw new BadValue(`With its values, the request is longer than ${MAX_REQUEST} characters.`)
  }
}

/** A single reference is the whole URL; elsewhere each value is percent-encoded. */
function urlOf(template: string, lookup: Lookup): string {
  const parts = parseTemplate(template)
  const [only] = parts
  if (parts.length === 1 && only !== undefined && typeof only !== 'string') {
    const whole = follow(only, lookup)
    if (typeof whole === 'string') return whole
    throw new BadValue('The URL must be a string.')
  }
  const url = parts.map((part) => (typeof part === 'string' ? part : encoded(asText(follow(part, lookup))))).join('')
  if (parts.length > 1) refuseDotSegments(url)
  return url
}

function encoded(text: string): string {
  try {
    return encodeURIComponent(text)
  } catch {
    throw new BadValue('A value in the URL is not valid text.')
  }
}

/** Percent-encoding keeps dots, so `..` would escape the value's place in the path. */
function refuseDotSegments(url: string): void {
  const path = url.replace(/^https?:\/\//i, '').split(/[?#]/)[0] ?? ''
  const climbs = path.split(/[/\\]/).some((segment) => /^(\.|%2e){1,2}$/i.test(segment))
  if (climbs) throw new BadValue('A value in the path of the URL must not be . or ..')
}

function withQuery(url: string, query: HttpConfig['query'], lookup: Lookup): string {
  const pairs = Object.entries(query).flatMap(([name, template]) => {
    const value = resolveTemplates(template, lookup)
    if (value === null) return []
    return (Array.isArray(value) ? value : [value]).map((item) => `${encoded(name)}=${encoded(asText(item))}`)
  })
  if (pairs.length === 0) return url
  const [bare = '', fragment] = url.split('#', 2)
  const joint = bare.includes('?') ? (/[?&]$/.test(bare) ? '' : '&') : '?'
  return `${bare}${joint}${pairs.join('&')}${fragment === undefined ? '' : `#${fragment}`}`
}

function bodyOf(config: HttpConfig, lookup: Lookup): { text: string; type: string } | null {
  if (config.body === undefined) return null
  const body = resolveTemplates(config.body, lookup)
  switch (config.bodyType) {
    case 'json':
      return { text: JSON.stringify(body), type: 'application/json' }
    case 'text':
      return { text: asText(body), type: 'text/plain; charset=utf-8' }
    case 'form': {
      if (!isJsonObject(body)) throw new BadValue('The form must be an object.')
      const form = new URLSearchParams()
      for (const [name, value] of Object.entries(body)) {
        if (value === null) continue
        for (const item of Array.isArray(value) ? value : [value]) form.append(name, asText(item))
      }
      return { text: form.toString(), type: 'application/x-www-form-urlencoded' }
    }
  }
}
