import { z } from 'zod'
import { AnyJson } from '../../definition/any-json'
import { parseTemplate } from '../../definition/template'
import { HeaderTemplates } from './headers'
import { checkTemplates, partsOf, type Root } from './templates'

/** The settings of an HTTP call. */
export const HttpFields = {
  method: z.enum(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE']).default('GET'),
  /** May have `${…}` in its path and query, or be a single `${…}` for the whole URL. */
  url: z.string().min(1).max(4_000),
  headers: HeaderTemplates.default({}),
  /** Query parameters: null leaves a name out, a list repeats it. */
  query: z.record(z.string().min(1).max(200), AnyJson).default({}),
  body: AnyJson.optional(),
  bodyType: z.enum(['json', 'text', 'form']).default('json'),
  timeoutMs: z.number().int().min(1).max(60_000).default(10_000),
  result: z.enum(['json', 'text', 'full']).default('json'),
  /** Selects part of a JSON response, such as `items[0].id`. */
  path: z.string().min(1).max(500).optional(),
}

export const HttpConfig = z
  .strictObject(HttpFields)
  .superRefine((config, ctx) => httpProblems(config, ['args', 'dataContext', 'context', 'secrets'], ctx))

/**
 * Reports invalid combinations of a call's fields.
 * @param roots the allowed roots of `${…}`; null allows all
 */
export function httpProblems(
  config: Omit<z.infer<typeof HttpConfig>, 'timeoutMs'>,
  roots: readonly Root[] | null,
  ctx: z.RefinementCtx,
): void {
  const { method, url, headers, query, body, bodyType, result, path } = config
  const secrets = checkTemplates({ url, headers, query, body }, roots, ctx)
  for (const message of urlProblems(url, secrets.length > 0)) ctx.addIssue({ code: 'custom', path: ['url'], message })
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    ctx.addIssue({ code: 'custom', path: ['body'], message: `is not sent with ${method}` })
  if (bodyType === 'text' && body !== undefined && typeof body !== 'string')
    ctx.addIssue({ code: 'custom', path: ['body'], message: 'must be a string when bodyType is text' })
  if (bodyType === 'form' && body !== undefined && (typeof body !== 'object' || body === null || Array.isArray(body)))
    ctx.addIssue({ code: 'custom', path: ['body'], message: 'must be an object when bodyType is form' })
  if (path !== undefined && result === 'text')
    ctx.addIssue({ code: 'custom', path: ['path'], message: 'needs a JSON result' })
  if (path !== undefined && !isPath(path))
    ctx.addIssue({ code: 'custom', path: ['path'], message: 'must be a path such as items[0].id' })
}

export type HttpConfig = z.infer<typeof HttpConfig>

/** A template that selects `path` from the root. */
export function pathTemplate(path: string): string {
  return `\${_${path.startsWith('[') ? '' : '.'}${path}}`
}

function isPath(path: string): boolean {
  if (/[{}?]/.test(path)) return false
  try {
    return parseTemplate(pathTemplate(path)).length === 1
  } catch {
    return false
  }
}

/**
 * Callers may fill in the path and the query, but never the host that secrets are sent to. The whole URL may come from
 * the caller only if the tool uses no secrets.
 */
function urlProblems(url: string, hasSecrets: boolean): string[] {
  const parts = partsOf(url)
  const [first] = parts
  if (first === undefined) return []
  if (typeof first !== 'string') {
    if (parts.length > 1) return ['must start with http:// or https:// and a host']
    if (first.root === 'secrets') return ['must not be just a secret']
    return hasSecrets ? ['must contain a fixed host when secrets are sent'] : []
  }
  // A URL parser drops them, which would join a value to the host.
  if (/[\t\r\n]/.test(first)) return ['must not contain a tab or a line break']
  const origin = /^https?:\/\/([^/?#\\\s]+)(.?)/i.exec(first)
  if (!origin) return ['must start with http:// or https:// and a host']
  if (origin[1]?.includes('@')) return ['must not contain a user name or password; use a header']
  // A value right after the host would become part of it.
  if (origin[2] === '' && parts.length > 1) return ['must have a / between the host and the first value']
  if (!URL.canParse(origin[0])) return ['is not a valid URL']
  return []
}
