import { timingSafeEqual } from 'node:crypto'
import { processWide } from '@/db/process-wide'
import { env } from '@/server/env'
import { answerNotFound } from '@/server/http/not-found'
import { requestAnswered } from '@/server/outbox'

type Handler = (...args: never[]) => unknown

export const DEV_KEY_HEADER = 'x-millrace-dev-key'
const DEV_KEY = Symbol.for('millrace.inngest.devKey')
type Global = typeof globalThis & { [DEV_KEY]?: string }

/**
 * Under `npm run dev` the engine calls the functions over HTTP, so that edited code takes effect, and sends this key,
 * which is created at boot.
 */
export function setDevKey(key: string): void {
  ;(globalThis as Global)[DEV_KEY] = key
}

/**
 * Only an Inngest server, which signs its calls, may call the functions over HTTP. The embedded engine calls them in
 * process, so in that mode the path does not exist, except for the engine of `npm run dev`.
 */
export function notServedHere<H extends Handler>(handler: H): H {
  return ((...args: Parameters<H>) => {
    const request = args[0] as unknown as Request
    if (env().engine !== 'inngest' && !isDevEngine(request)) return answerNotFound(request)
    return call(handler, args).finally(requestAnswered)
  }) as unknown as H
}

/** Records the call if it came from the server: other calls have no signature. */
async function call<H extends Handler>(handler: H, args: Parameters<H>): Promise<unknown> {
  const response = await handler(...args)
  const ours = response instanceof Response && response.status !== 401
  if (ours)
    await bound()
      .note?.()
      .catch(() => {})
  return response
}

const bound = () => processWide<{ note?: () => Promise<void> }>('inngest.called', () => ({}))

/** Sets the function that records calls by the Inngest server. */
export function bindCallNoter(note: () => Promise<void>): void {
  bound().note = note
}

function isDevEngine(request: Request): boolean {
  const expected = (globalThis as Global)[DEV_KEY]
  const given = request.headers.get(DEV_KEY_HEADER)
  if (!expected || !given || expected.length !== given.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
