import { env } from '../env'
import { ERRORS, type ErrorCode } from '../errors'
import { CachedText, PLACEHOLDER } from '../http/cached-text'
import { originOf } from '../http/origin'
import { API_VERSION } from '../http/respond'
import { SentRequest } from '../http/sent-request'
import { ErrorSchema, errorExamples, errorsOf } from '../openapi/errors'
import { REQUEST_HEADERS, RESPONSE_HEADERS, SECURITY_SCHEMES } from '../openapi/headers'
import { queryParameter } from '../openapi/schema'
import { withSharedErrors } from '../openapi/shared-errors'
import {
  type Answer,
  type DocumentedOperation,
  type DocumentedResponse,
  type MediaType,
  type OpenApiDocument,
  type Operation,
  type Parameter,
  type Schema,
  TAGS,
} from '../openapi/types'
import { ENDPOINTS } from './endpoints'
import { componentSchemas, schemaOf } from './openapi-schemas'
import { GET_OPENAPI } from './service-endpoints'

/** Every documented operation, in the order of the reference. */
export const OPERATIONS: readonly Operation[] = [
  ...Object.entries(ENDPOINTS).map(([id, endpoint]) => ({ id, ...endpoint })),
  GET_OPENAPI,
]

const DESCRIPTION = [
  'Durable workflows with people in them, over HTTP.',
  'All errors have the same shape, with a machine-readable `code`. For objects of other tenants, the response is 404.',
  'Bodies are JSON objects of at most 1 MiB, 64 levels, 10,000 keys and 50,000 values; an empty body is `{}`. Text with NUL characters or lone surrogates is refused; `__proto__` keys are dropped; undeclared fields are ignored, and `warnings` of the answer name them (`W_UNKNOWN_FIELD`) with the nearest name, except among START fields; an invoke, a chat and an agent’s or a tool’s settings refuse them. Parameters that a call does not have, or that are sent twice, are refused with the nearest name.',
  'Fields are only ever added, so clients must accept ones they do not know.',
].join('\n\n')

type Rest = Omit<OpenApiDocument, 'servers' | 'info'> & { info: Omit<OpenApiDocument['info'], 'contact'> }
let rest: Rest | undefined

/**
 * The OpenAPI document.
 * @param origin where the reader reached the service; `PUBLIC_URL` takes precedence
 */
export function openApiDocument(origin: string): OpenApiDocument {
  rest ??= build()
  const { openapi, info: known, ...more } = rest
  const url = (env().PUBLIC_URL ?? origin).replace(/\/+$/, '')
  const info = { ...known, contact: { name: 'The reference of this service', url: `${url}/reference` } }
  return { openapi, info, servers: [{ url, description: 'This service' }], ...more }
}

let cached: CachedText | undefined

/**
 * Answers with the document, or 304 if the reader already has it. It contains nothing secret, so any page may read it.
 */
export async function answerOpenApi(request: Request): Promise<Response> {
  const { headers } = request
  cached ??= new CachedText(JSON.stringify(withSharedErrors(openApiDocument(PLACEHOLDER))))
  const answer = await cached.answer({
    origin: originOf(headers),
    // Next drops the header with the encoding, and leaves compression to the platform.
    acceptEncoding: request instanceof SentRequest ? headers.get('accept-encoding') : null,
    ifNoneMatch: headers.get('if-none-match'),
  })
  const sent = {
    ...answer.headers,
    'access-control-allow-origin': '*',
    'x-content-type-options': 'nosniff',
    'x-api-version': API_VERSION,
  }
  if (answer.body === null) return new Response(null, { status: 304, headers: sent })
  const body = new Uint8Array(answer.body)
  return new Response(body, { headers: { ...sent, 'content-type': 'application/json; charset=utf-8' } })
}

const CREDENTIALS: OpenApiDocument['security'] = [{ apiKey: [], tenantId: [] }, { apiKey: [] }, { bearer: [] }]

function build(): Rest {
  const paths: OpenApiDocument['paths'] = {}
  for (const operation of OPERATIONS) {
    const path = paths[operation.path] ?? {}
    paths[operation.path] = { ...path, [operation.method.toLowerCase()]: document(operation) }
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Millrace',
      version: API_VERSION,
      summary: 'Durable workflows with people in them.',
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    jsonSchemaDialect: 'https://json-schema.org/draft/2020-12/schema',
    security: CREDENTIALS,
    tags: Object.entries(TAGS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      schemas: componentSchemas(paths),
      parameters: REQUEST_HEADERS,
      headers: RESPONSE_HEADERS,
      examples: errorExamples([...new Set(OPERATIONS.flatMap(errorsOf))].sort()),
      securitySchemes: SECURITY_SCHEMES,
    },
  }
}

function document(operation: Operation): DocumentedOperation {
  const { id, tag, summary, description, role, mayNeedCredential } = operation
  return {
    operationId: id,
    tags: [tag],
    summary,
    description: role === 'nobody' ? description : `${description}\n\nNeeds the role ${role} or above.`,
    ...(role === 'nobody' ? { security: mayNeedCredential ? [{}, ...CREDENTIALS] : [] } : {}),
    parameters: [...pathParameters(operation), ...queryParameters(operation), ...headerParameters(operation)],
    ...requestBody(operation),
    responses: responses(operation),
    'x-role': role,
  }
}

function pathParameters({ path, parameters = {} }: Operation): Parameter[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => {
    const { description, example } = parameters[name] ?? { description: '', example: '' }
    return { name, in: 'path', required: true, description, schema: { type: 'string' }, example }
  })
}

function queryParameters({ query }: Operation): Parameter[] {
  return Object.entries(query?.shape ?? {}).map(([name, schema]) => ({ name, in: 'query', ...queryParameter(schema) }))
}

function headerParameters({ headers = [], role }: Operation): { $ref: string }[] {
  const names = role === 'nobody' ? headers : [...headers, 'X-Request-Id']
  return names.map((name) => ({ $ref: `#/components/parameters/${name}` }))
}

function requestBody({ body, bytes }: Operation): Pick<DocumentedOperation, 'requestBody'> {
  if (body) return { requestBody: { required: body.required, content: bodyContent(body) } }
  if (bytes === undefined) return {}
  const schema = { ...BYTES, description: bytes }
  return { requestBody: { required: true, content: { 'application/octet-stream': { schema } } } }
}

function bodyContent({ schema, examples, form }: NonNullable<Operation['body']>): Record<string, MediaType> {
  const json: MediaType = { schema: schemaOf(schema), examples }
  return { 'application/json': json, ...(form ? { 'multipart/form-data': { schema: form } } : {}) }
}

function responses(operation: Operation): Record<string, DocumentedResponse> {
  const answers = Object.entries(operation.answers).map(
    ([status, answer]) => [status, good(operation, answer)] as const,
  )
  const codes = errorsOf(operation)
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))].sort((a, b) => a - b)
  const errors = statuses.map((status) => {
    const ofStatus = codes.filter((code) => ERRORS[code].status === status)
    return [String(status), bad(status, ofStatus)] as const
  })
  return Object.fromEntries([...answers, ...errors])
}

function good({ role, id, headers: taken = [] }: Operation, answer: Answer): DocumentedResponse {
  const { description, schema, contentType = 'application/json', headers = [], examples, stream, event, csv } = answer
  const common = role === 'nobody' ? [] : (['X-Request-Id', 'X-Api-Version', ...LIMITS] as const)
  const replayed = taken.includes('Idempotency-Key') ? (['Idempotent-Replayed'] as const) : []
  const version = id === 'getOpenApi' ? (['X-Api-Version'] as const) : []
  const content: Record<string, MediaType> = {}
  if (schema) content[contentType] = { schema: schemaOf(schema), ...(examples ? { examples } : {}) }
  // Generators that know neither of the two can still read bytes.
  if (contentType === '*/*' || contentType === NDJSON) content['application/octet-stream'] = { schema: BYTES }
  if (stream !== undefined) {
    content['text/event-stream'] = {
      schema: streamOf(event),
      examples: { events: { summary: 'As events', value: stream } },
    }
  }
  if (csv !== undefined)
    content['text/csv'] = { schema: { type: 'string' }, examples: { csv: { summary: 'As a file', value: csv } } }
  return {
    description,
    headers: headerRefs([...headers, ...replayed, ...common, ...version]),
    ...(Object.keys(content).length > 0 ? { content } : {}),
  }
}

const NDJSON = 'application/x-ndjson'
const BYTES: Schema = { type: 'string', format: 'binary' }

/** Some tools check it against the stream as text, others against each event. */
function streamOf(event: Answer['event']): Schema {
  const description = 'Events; the `data` of each is a JSON object.'
  return event ? { description, anyOf: [{ type: 'string' }, schemaOf(event)] } : { description }
}
const LIMITS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const

function bad(status: number, codes: ErrorCode[]): DocumentedResponse {
  const examples = Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }]))
  const retry = status === 429 || status === 503 ? ['Retry-After'] : []
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].message}.`).join(' '),
    headers: headerRefs(['X-Request-Id', 'X-Api-Version', 'Link', ...retry]),
    content: { 'application/json': { schema: ErrorSchema, examples } },
  }
}

function headerRefs(names: readonly string[]): Record<string, { $ref: string }> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}
