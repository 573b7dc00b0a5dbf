import { errorOf } from '@/app/_trpc/client'
import { named, underField } from '@/app/_ui/sentence'
import type { ErrorDetail } from '@/server/errors'

/** The server's error for a field or a value inside it; null if none. */
export function errorAt(error: unknown, path: string): string | null {
  if (!error) return null
  const found = errorOf(error).details.find((detail) => isAt(String(detail.path ?? ''), path))
  if (!found) return null
  const inner = String(found.path ?? '')
    .slice(path.length)
    .replace(/^\./, '')
  return inner === '' ? underField(found.message) : named(inner, found.message)
}

/** Errors found in the browser, in the shape of a server error. */
export function asError(details: readonly ErrorDetail[]): unknown {
  return details.length === 0
    ? null
    : { data: { error: { code: 'INVALID_INPUT', message: '', details, requestId: '' } } }
}

function isAt(found: string, path: string): boolean {
  return found === path || found.startsWith(`${path}.`) || found.startsWith(`${path}[`)
}
