import type { ServiceContext } from '../context'
import { cutText, toStorableJson } from '../definition/json'
import type { DeliveryAttempt } from '../definition/webhook'
import { guardedFetch } from '../net/guarded-fetch'
import { OutboundFailure } from '../net/outbound-failure'
import type { EndpointRow } from './find'
import { signingKeys } from './secrets'
import { signedHeaders } from './sign'

const TIMEOUT_MS = 15_000
/** How much of a response is stored, enough to find the reason of a failure. */
const MAX_RESPONSE = 1_000

/** Posts a message once. A redirect is a failure: signed content goes only to the address that was entered. */
export async function attempt(
  ctx: ServiceContext,
  endpoint: EndpointRow,
  message: { id: string; body: string },
): Promise<DeliveryAttempt> {
  const at = ctx.now()
  const from = performance.now()
  const done = (result: Omit<DeliveryAttempt, 'at' | 'durationMs'>) => ({
    at: at.toISOString(),
    durationMs: Math.round(performance.now() - from),
    ...result,
  })
  const keys = signingKeys(ctx, endpoint)
  if (keys.length === 0)
    return done({ status: null, error: 'The secret of this webhook cannot be decrypted.', response: null })
  try {
    const headers = { 'content-type': 'application/json', ...signedHeaders(message, at, keys) }
    const request = { method: 'POST', headers, body: message.body, redirect: 'error' as const }
    const response = await guardedFetch(endpoint.url, request, { timeoutMs: TIMEOUT_MS })
    const text = await beginning(response)
    const error = response.ok ? null : `The receiver answered with the status ${response.status}.`
    return done({ status: response.status, error, response: text })
  } catch (err) {
    if (!(err instanceof OutboundFailure)) throw err
    return done({ status: null, error: err.message, response: null })
  }
}

/**
 * The start of a response. Only the status says whether the message arrived, so a failure while reading the body does
 * not matter.
 */
async function beginning(response: Response): Promise<string> {
  const reader = response.body?.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    while (reader && text.length < MAX_RESPONSE) {
      const { done, value } = await reader.read()
      if (done) break
      text += decoder.decode(value, { stream: true })
    }
    await reader?.cancel()
  } catch {
    // See above.
  }
  return toStorableJson(cutText(text, MAX_RESPONSE))
}
