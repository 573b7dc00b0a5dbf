import { STATUS_CODES } from 'node:http'
import type { ServiceContext } from '../../context'
import { type JsonValue, toStorableJson } from '../../definition/json'
import { parseKeepingDigits } from '../../definition/long-numbers'
import { type Lookup, lookupIn, resolveTemplates, UnresolvedReference } from '../../definition/template'
import type { ToolCall } from '../call'
import { type ToolOutcome, toolFailure } from '../schema'
import { HttpConfig, pathTemplate } from './http-config'
import { buildRequest } from './http-request'
import { callingOut } from './outbound'
import { lookupOf } from './templates'

/** Makes one HTTP call. Any status but 2xx is a failure; transient ones are marked. */
export async function runHttpTool(raw: JsonValue, call: ToolCall, ctx: ServiceContext): Promise<ToolOutcome> {
  const { args, dataContext, context } = call
  const lookup = lookupOf({ args, dataContext, context, secrets: new Map() })
  return callHttp(ctx, HttpConfig.parse(raw), lookup, call)
}

/**
 * Like `runHttpTool`, with values from any source.
 * @param lookup finds the values of `${…}`, except secrets
 */
export async function callHttp(
  ctx: ServiceContext,
  config: HttpConfig,
  lookup: Lookup,
  { signal, idempotencyKey }: Pick<ToolCall, 'signal' | 'idempotencyKey'>,
): Promise<ToolOutcome> {
  const { url, headers, query, body } = config
  return callingOut(ctx, { url, headers, query, body }, signal, async (secrets, fetch) => {
    const known = Object.fromEntries(secrets)
    const request = buildRequest(config, (root) => (root === 'secrets' ? known : lookup(root)), idempotencyKey)
    const { url, ...init } = request
    const response = await fetch(url, { ...init, signal }, { timeoutMs: config.timeoutMs })
    return response.ok ? resultOf(config, response) : statusFailure(response)
  })
}

async function resultOf(config: HttpConfig, response: Response): Promise<ToolOutcome> {
  const text = await response.text()
  if (config.result === 'text') return { success: true, data: toStorableJson(text) }
  const isJson = /[/+]json\b/i.test(response.headers.get('content-type') ?? '')
  let body: JsonValue = toStorableJson(text)
  if (config.result === 'json' || isJson) {
    try {
      body = text.trim() === '' ? null : toStorableJson(parseKeepingDigits(text))
    } catch {
      return toolFailure('OUTPUT_INVALID', 'The response is not JSON.', [`status: ${response.status}`])
    }
  }
  if (config.path !== undefined) {
    try {
      body = resolveTemplates(pathTemplate(config.path), lookupIn(body))
    } catch (err) {
      if (!(err instanceof UnresolvedReference)) throw err
      return toolFailure('OUTPUT_INVALID', `The response has no ${config.path}.`)
    }
  }
  if (config.result === 'json') return { success: true, data: body }
  const headers = toStorableJson(Object.fromEntries(response.headers))
  return { success: true, data: { status: response.status, headers, body } }
}

async function statusFailure(response: Response): Promise<ToolOutcome> {
  const { status } = response
  const known = STATUS_CODES[status]
  const text = (await response.text().catch(() => '')).trim()
  return toolFailure(
    'HTTP_ERROR',
    `The server answered ${status}${known ? ` ${known}` : ''}.`,
    [`status: ${status}`, ...(text === '' ? [] : [String(toStorableJson(text))])],
    { transient: isTransientStatus(status), retryAfterMs: retryAfterMs(response.headers.get('retry-after')) },
  )
}

export function isTransientStatus(status: number): boolean {
  return status === 408 || status === 425 || status === 429 || status >= 500
}

/** Reads `Retry-After`, in seconds or as a date, as milliseconds from now. */
export function retryAfterMs(header: string | null, now = Date.now()): number | undefined {
  if (header === null) return undefined
  const seconds = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1000 : Date.parse(header) - now
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined
}
