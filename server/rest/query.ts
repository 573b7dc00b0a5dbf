import { AppError, type ErrorDetail } from '../errors'
import { type ByName, byName } from '../http/by-name'
import { unknownName } from '../parse'

/** What Next adds to the address of a request. */
const OF_NEXT = /^(nxt[PI]|_rsc$)/
const MOST_DETAILS = 20

/** @throws AppError INVALID_INPUT for text that Postgres cannot store */
export function queryOf(request: Request): ByName {
  const { searchParams } = new URL(request.url)
  const bad = [...searchParams].find(([, text]) => text.includes('\u0000'))
  if (bad) throw refused([{ path: bad[0], message: 'contains a NUL character' }])
  return byName(searchParams)
}

/**
 * The parameters of a call, each of which it must know and have once: one that was ignored would look as if it had counted.
 * @param folder of the route below `app`
 * @throws AppError INVALID_INPUT
 */
export async function readQuery(request: Request, folder: string | undefined): Promise<Record<string, string>> {
  const sent = Object.entries(queryOf(request)).filter(([name]) => !OF_NEXT.test(name))
  if (sent.length === 0) return {}
  const known = await namesOf(request.method, folder)
  const details = sent.flatMap(([name, value]) => problemOf(name, value, known) ?? [])
  if (details.length > 0) throw refused(details.slice(0, MOST_DETAILS))
  return Object.fromEntries(sent) as Record<string, string>
}

function problemOf(name: string, value: string | string[], known: readonly string[] | null): ErrorDetail | null {
  if (known && !known.includes(name)) return unknownName(name, known, 'parameter')
  return Array.isArray(value) ? { path: name.slice(0, 100), message: 'was sent more than once' } : null
}

/** The parameters that the OpenAPI document has for a call; null for a call that it does not have. */
async function namesOf(method: string, folder: string | undefined): Promise<readonly string[] | null> {
  if (folder === undefined) return null
  // Only a request with parameters has to know them.
  const { OPERATIONS } = await import('./openapi-document')
  const path = folder.replaceAll('[', '{').replaceAll(']', '}')
  const called = method === 'HEAD' ? 'GET' : method
  const operation = OPERATIONS.find((one) => one.method === called && one.path === path)
  return operation ? Object.keys(operation.query?.shape ?? {}) : null
}

function refused(details: ErrorDetail[]): AppError {
  return new AppError('INVALID_INPUT', { details })
}
