import { randomUUID } from 'node:crypto'
import { processWide } from '@/db/process-wide'
import { AppError } from '../errors'

export type Refusal = 'path' | 'length' | 'method'

const key = () => processWide('http.refused', () => ({ key: randomUUID() })).key

/** A path that no client can know, under which the app answers a refused request. */
export function refusedPath(why: Refusal): string {
  return `/api/${key()}/${why}`
}

/** The error of a request that was sent to `refusedPath`; null for any other. */
export function refusalOf(request: Request, methods: readonly string[]): AppError | null {
  const [, , given, why] = new URL(request.url).pathname.split('/')
  if (given !== key()) return null
  if (why === 'method') return new AppError('METHOD_NOT_ALLOWED', { headers: { allow: methods.join(', ') } })
  const message =
    why === 'length' ? 'The URL is longer than 8,192 characters.' : 'The path is not percent-encoded UTF-8.'
  const details = [{ path: 'url', message }]
  return new AppError('INVALID_INPUT', { details })
}
