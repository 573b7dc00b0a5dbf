import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020'
import addFormats from 'ajv-formats'
import type {
  DocumentedOperation,
  DocumentedResponse,
  OpenApiDocument,
  Reference,
  Schema,
} from '@/server/openapi/types'

export type Checker = (pointer: readonly string[], value: unknown) => string[]

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/

/**
 * Checks values against schemas of the document, which are named by their position in it.
 * @param options.closed also reject undocumented fields, which clients must accept but our tests must not
 */
export function checkerOf(document: OpenApiDocument, options: { closed?: boolean } = {}): Checker {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    formats: { 'date-time': MOMENT, date: true, binary: true },
  })
  addFormats.default(ajv, ['uri', 'email', 'uuid'])
  const root = options.closed ? (close(document) as OpenApiDocument) : document
  ajv.addSchema({ ...root, $id: 'openapi' })
  const compiled = new Map<string, ValidateFunction>()
  return (pointer, value) => {
    // Most answers are named schemas. Compiling each under its name happens only once, which saves time.
    const { $ref: named } = at(document, pointer)
    const $ref = `openapi${named ?? `#/${pointer.map((part) => encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))).join('/')}`}`
    const validate = compiled.get($ref) ?? ajv.compile({ $ref })
    compiled.set($ref, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      (error) => `${error.instancePath || '/'} ${error.message} ${JSON.stringify(error.params)}`,
    )
  }
}

/** The schema at a position in the document. */
function at(document: OpenApiDocument, pointer: readonly string[]): Schema {
  return pointer.reduce<unknown>((value, part) => (value as Record<string, unknown>)[part], document) as Schema
}

/** A copy in which objects accept only listed fields, unless the schema allows others. */
function close(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(close)
  if (typeof value !== 'object' || value === null) return value
  const copy = Object.fromEntries(Object.entries(value).map(([name, item]) => [name, close(item)])) as Schema
  const isSchema = typeof copy.properties === 'object' && JSON.stringify(copy.type ?? '').includes('object')
  if (isSchema && copy.additionalProperties === undefined) copy.additionalProperties = false
  return copy
}

/** A document as it is served, with each shared response written where it is used. */
export function inlined({
  paths,
  components,
  ...rest
}: OpenApiDocument<DocumentedResponse | Reference>): OpenApiDocument {
  const { responses: shared = {}, ...others } = components
  const full = (response: DocumentedResponse | Reference): DocumentedResponse =>
    '$ref' in response ? (shared[response.$ref.split('/').at(-1) ?? ''] ?? fail(response.$ref)) : response
  const each = <A, B>(group: Record<string, A>, change: (member: A) => B): Record<string, B> =>
    Object.fromEntries(Object.entries(group).map(([name, member]) => [name, change(member)]))
  const written = each(paths, (methods) =>
    each(methods, (operation) => ({ ...operation, responses: each(operation.responses, full) })),
  )
  return { ...rest, paths: written, components: others }
}

function fail(reference: string): never {
  throw new Error(`${reference} leads nowhere`)
}

export interface Documented {
  method: string
  path: string
  operation: DocumentedOperation
}

export function operationsOf(document: OpenApiDocument): Documented[] {
  return Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  )
}

/** The operation that matches a request. If two templates match, the one with fewer parameters. */
export function findOperation(operations: Documented[], method: string, url: string): Documented | undefined {
  const path = url.split('?')[0] ?? ''
  return operations
    .filter((it) => it.method === method && new RegExp(`^${it.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(path))
    .sort((a, b) => a.path.split('{').length - b.path.split('{').length)[0]
}

/**
 * Violations of the document by an answer: its status, type, body or error code.
 * @param body parsed if it is JSON, otherwise text
 */
export function problemsOf(
  check: Checker,
  { method, path, operation }: Documented,
  answer: { status: number; headers: Headers; body: unknown },
): string[] {
  const status = String(answer.status)
  const response = operation.responses[status]
  if (!response) return [`the status ${status} is not documented`]
  const sent = answer.headers.get('content-type')?.split(';')[0] ?? ''
  const types = Object.keys(response.content ?? {})
  if (types.length === 0) return answer.body === '' ? [] : ['has a body though none is documented']
  const type = types.find((name) => name === sent || name === '*/*')
  if (type === undefined) return [`the type ${sent} is not documented`]
  const problems = headerProblems(response.headers ?? {}, answer)
  if (type !== 'application/json') return problems
  const at = ['paths', path, method.toLowerCase(), 'responses', status, 'content', type]
  problems.push(...check([...at, 'schema'], answer.body))
  const code = (answer.body as { error?: { code?: string } } | null)?.error?.code
  const codes = Object.keys(response.content?.[type]?.examples ?? {})
  if (answer.status >= 400 && code && !codes.includes(code)) problems.push(`the code ${code} is not documented`)
  return problems
}

/** Headers that are not on every answer. */
const OCCASIONAL = /^(ratelimit-.*|retry-after|idempotent-replayed|link)$/i

function headerProblems(documented: Record<string, unknown>, { headers }: { headers: Headers }): string[] {
  return Object.keys(documented)
    .filter((name) => !OCCASIONAL.test(name) && !headers.has(name))
    .map((name) => `the header ${name} is missing`)
}
