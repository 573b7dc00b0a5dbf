import type { ServiceContext } from '../../context'
import { cutText, type JsonLike } from '../../definition/json'
import { TemplateTooLarge, UnresolvedReference } from '../../definition/template'
import { type GuardedRequest, guardedFetch } from '../../net/guarded-fetch'
import { OutboundFailure } from '../../net/outbound-failure'
import { traceparent } from '../../telemetry/traces'
import { type Masker, maskerOf } from '../../vault/mask'
import { type OpenSecrets, readVaultSecrets, SecretMissing } from '../../vault/read'
import { type ToolFailure, type ToolOutcome, toolFailure } from '../schema'
import { secretsIn } from './templates'

/** The caller's values do not form a valid request. The message names the place, not the value. */
export class BadValue extends Error {
  override name = 'BadValue'
}

/** `guardedFetch` that also rejects every host to which one of the call's secrets is not bound. */
export type BoundFetch = (
  url: string | URL,
  request: GuardedRequest,
  options: { timeoutMs: number },
) => Promise<Response>

/**
 * Runs a tool that calls another service, with the secrets its configuration uses. Masks its result and anything it
 * throws. Failed calls become failures of the tool.
 * @param work must send anything that contains a secret with the given `fetch`
 * @throws the reason of `signal` once it has fired
 */
export async function callingOut(
  ctx: ServiceContext,
  config: JsonLike,
  signal: AbortSignal,
  work: (secrets: ReadonlyMap<string, string>, fetch: BoundFetch) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  let secrets: OpenSecrets
  try {
    secrets = await readVaultSecrets(ctx, secretsIn(config))
  } catch (err) {
    if (err instanceof SecretMissing) return toolFailure('SECRET_MISSING', err.message)
    throw err
  }
  const { values, check } = secrets
  const masker = maskerOf(values.values())
  const fetch: BoundFetch = (url, request, options) =>
    guardedFetch(url, continued(request), { ...options, check, owner: ctx.tenantId })
  try {
    return masked(await work(values, fetch), masker)
  } catch (err) {
    if (signal.aborted) throw signal.reason
    const failure = failureOf(err)
    if (failure) return masked(failure, masker)
    throw maskedError(err, masker)
  }
}

/** A request that continues the trace of the call, if the service has traces and the tool sets no trace header. */
function continued(request: GuardedRequest): GuardedRequest {
  const own = traceparent()
  if (own === null || new Headers(request.headers).has('traceparent')) return request
  return { ...request, headers: { ...request.headers, traceparent: own } }
}

function failureOf(err: unknown): ToolFailure | null {
  if (err instanceof OutboundFailure) return toolFailure(err.code, err.message, [], { transient: err.transient })
  if (err instanceof UnresolvedReference || err instanceof TemplateTooLarge || err instanceof BadValue)
    return toolFailure('EXECUTION_ERROR', err.message)
  return null
}

function masked(outcome: ToolOutcome, masker: Masker): ToolOutcome {
  if (outcome.success) return { success: true, data: masker.json(outcome.data) }
  const { message, details, code } = outcome.error
  // Cut only after masking: half a secret would not be recognised.
  const clean = (text: string) => excerpt(masker.text(text))
  return { ...outcome, error: { message: clean(message), details: details.map(clean), code } }
}

const EXCERPT = 500

function excerpt(text: string): string {
  return text.length > EXCERPT ? `${cutText(text, EXCERPT)}…` : text
}

/** For the log: without a cause, which could contain what this masks. */
function maskedError(err: unknown, masker: Masker): Error {
  const { name, message, stack = '' } = err instanceof Error ? err : new Error(String(err))
  const clean = new Error(masker.text(message))
  clean.name = name
  clean.stack = masker.text(stack)
  return clean
}
