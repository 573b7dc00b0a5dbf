import { z } from 'zod'
import type { AllowedHosts } from '@/lib/ip'
import { keepingDigits } from '../../definition/long-numbers'
import { type GuardOptions, guardedFetch } from '../../net/guarded-fetch'
import { OutboundFailure } from '../../net/outbound-failure'
import { issuesToDetails } from '../../parse'
import { OutgoingKeys } from '../outgoing-keys'
import type { ScriptFetch } from '../sandbox/fetch-relay'
import type { FetchReply } from '../sandbox/protocol'
import { detailTexts } from '../schema'
import { fitsHeader, HeaderName, withKey } from './headers'

const MAX_BODY = 1024 * 1024
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

const Call = z
  .object({
    url: z.string().max(8_000, 'is longer than 8000 characters'),
    method: z.string().max(20).toUpperCase().pipe(z.enum(METHODS)),
    headers: z
      .array(z.tuple([HeaderName, z.string().max(8_000).refine(fitsHeader, 'is not a valid header value')]))
      .max(50, 'has more than 50 entries'),
    body: z
      .string()
      .refine((text) => Buffer.byteLength(text) <= MAX_BODY, `is larger than ${MAX_BODY} bytes`)
      .nullable(),
  })
  .refine(({ method, body }) => body === null || (method !== 'GET' && method !== 'HEAD'), {
    path: ['body'],
    message: 'is not sent with GET or HEAD',
  })

type Options = Omit<GuardOptions, 'only'> & { idempotencyKey?: string | null }

/**
 * The `fetch` of one run of a script: guarded like every call whose target a user can influence, and limited to the
 * hosts the tool lists. Each call with side effects gets an idempotency key, derived from the run's.
 */
export function scriptFetch(only: AllowedHosts, { idempotencyKey = null, ...options }: Options = {}): ScriptFetch {
  const keys = idempotencyKey === null ? null : new OutgoingKeys(idempotencyKey)
  return async (call, signal) => {
    const parsed = Call.safeParse(call)
    if (!parsed.success) {
      const problems = detailTexts(issuesToDetails(parsed.error.issues)).slice(0, 3)
      return failed('EXECUTION_ERROR', `The request is not valid: ${problems.join('; ')}`)
    }
    const { url, method, headers, body } = parsed.data
    try {
      const sent = withKey(method, Object.fromEntries(headers), keys?.next([method, url, body]) ?? null)
      const request = { method, headers: sent, ...(body === null ? {} : { body }), signal }
      const response = await guardedFetch(url, request, { ...options, only })
      const text = await response.text()
      const json = keepingDigits(text)
      return {
        status: response.status,
        headers: [...response.headers],
        body: text,
        ...(json === text ? {} : { json }),
      }
    } catch (err) {
      // A script's calls carry no secrets, so this code cannot occur here.
      if (!(err instanceof OutboundFailure) || err.code === 'SECRET_NOT_ALLOWED') throw err
      return failed(err.code, err.message, err.transient)
    }
  }
}

type Failure = Extract<FetchReply, { failure: unknown }>['failure']

function failed(code: Failure['code'], message: string, transient = false): FetchReply {
  return { failure: { code, message, transient } }
}
