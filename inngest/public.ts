import { timingSafeEqual } from 'node:crypto'
import { env } from '@/server/env'
import { nowhere } from '@/server/http/not-found'

type Handler = (...args: never[]) => unknown

export const DEV_KEY_HEADER = 'x-millrace-dev-key'
const DEV_KEY = Symbol.for('millrace.inngest.devKey')
type Global = typeof globalThis & { [DEV_KEY]?: string }

/** In `npm run dev` the engine calls the functions over HTTP, so that edited code is used; this key, made at boot, is what it shows. */
export function setDevKey(key: string): void {
  ;(globalThis as Global)[DEV_KEY] = key
}

/**
 * The functions answer over HTTP only to an Inngest server, which signs its calls. On the embedded engine they
 * are called in process and the path does not exist, but for the engine of `npm run dev` itself.
 */
export function notServedHere<H extends Handler>(handler: H): H {
  return ((...args: Parameters<H>) => {
    const request = args[0] as unknown as Request
    if (env().engine === 'inngest' || isDevEngine(request)) return handler(...args)
    return nowhere(request)
  }) as unknown as H
}

function isDevEngine(request: Request): boolean {
  const expected = (globalThis as Global)[DEV_KEY]
  const given = request.headers.get(DEV_KEY_HEADER)
  if (!expected || !given || expected.length !== given.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(expected))
}
