import { AppError, type ErrorDetail } from '../errors'
import { type ByName, byName } from '../http/by-name'
import { unknownName } from '../parse'

/** The parameters that Next adds to the URL of a request. */
const OF_NEXT = /^(nxt[PI]|_rsc$)/
const MAX_DETAILS = 20

/** @throws AppError INVALID_INPUT for text that Postgres cannot store */
export function queryOf(request: Request): ByName {
  const { searchParams } = new URL(request.url)
  const bad = [...searchParams].find(([, text]) => text.includes('\u0000'))
  if (bad) throw refused([{ path: bad[0], message: 'contains a NUL character' }])
  return byName(searchParams)
}

/**
 * The parameters of a call. Each must be known and sent once: an ignored one would seem to have taken effect.
 * @param known all that the call accepts; any if omitted
 * @throws AppError INVALID_INPUT
 */
export function readQuery(request: Request, known?: readonly string[]): Record<string, string> {
  const sent = Object.entries(queryOf(request)).filter(([name]) => !OF_NEXT.test(name))
  const details = sent.flatMap(([name, value]) => problemOf(name, value, known) ?? [])
  if (details.length > 0) throw refused(details.slice(0, MAX_DETAILS))
  return Object.fromEntries(sent) as Record<string, string>
}

function problemOf(name: string, value: string | string[], known: readonly string[] | undefined): ErrorDetail | null {
  if (known && !known.includes(name)) return unknownName(name, known, 'parameter')
  return Array.isArray(value) ? { path: name.slice(0, 100), message: 'was sent more than once' } : null
}

function refused(details: ErrorDetail[]): AppError {
  return new AppError('INVALID_INPUT', { details })
}
