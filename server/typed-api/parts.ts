import type {
  DocumentedOperation,
  DocumentedResponse,
  MediaType,
  OpenApiDocument,
  Reference,
  Schema,
} from '../openapi/types'
import { Names } from './names'

type TypedOperation = DocumentedOperation<DocumentedResponse | Reference>
export type TypedDocument = OpenApiDocument<DocumentedResponse | Reference>

/** One object's part of the document. */
export interface Parts {
  paths: Record<string, Record<string, TypedOperation>>
  schemas: Record<string, Schema>
}

/** How an operation of an object differs from the one for all objects. */
interface Change {
  id: string
  path: string
  summary: string
  description: string
  body?: { required: boolean; content: Record<string, MediaType> }
  /** The schema of each response that differs. */
  answers: Record<string, Schema>
}

export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` })
export const json = (schema: Schema): Record<string, MediaType> => ({ 'application/json': { schema } })

/** Schemas that are named here because each workflow has them, each with its field of a run. */
const OF_RUNS = { RunStatus: 'status', RunOutcome: 'outcome', RunError: 'error', RunCancellation: 'cancellation' }

/** Derives the operations of single objects from the API document's generic ones. */
export class Blueprint {
  /** The responses and schemas shared by all objects: named once, and referenced. */
  readonly responses: Record<string, DocumentedResponse> = {}
  readonly schemas: Record<string, Schema> = {}
  /** Those of schemas. */
  readonly names: Names
  readonly #ids = new Names([])
  constructor(readonly base: OpenApiDocument) {
    this.names = new Names([...Object.keys(base.components.schemas), ...Object.keys(OF_RUNS)])
  }

  operation(path: string, method: 'get' | 'post', change: Change): TypedOperation {
    const base = this.base.paths[path]?.[method]
    if (!base) throw new Error(`The document has no ${method} ${path}`)
    const { id, path: own, summary, description, body, answers } = change
    const keeps = (name: string) => own.includes(`{${name}}`)
    return {
      operationId: this.#ids.give(id),
      tags: base.tags,
      summary,
      description: `${description}\n\nNeeds the role ${base['x-role']} or above.`,
      parameters: base.parameters.filter((it) => !('in' in it) || (it.in === 'path' && keeps(it.name))),
      ...(body ? { requestBody: body } : {}),
      responses: Object.fromEntries(
        Object.entries(base.responses).map(([status, response]) => {
          const schema = answers[status]
          if (!schema) return [status, this.#shared(base.operationId, status, response)]
          return [status, { ...response, headers: ownOf(response.headers ?? {}), content: json(schema) }]
        }),
      ),
      'x-role': base['x-role'],
    }
  }

  /** The fields of a schema of the API. */
  fieldsOf(name: string): { properties: Record<string, Schema>; required: string[] } {
    const { properties = {}, required = [] } = this.base.components.schemas[name] ?? {}
    return { properties, required }
  }

  /** The run fields that are the same for every workflow. */
  fieldsOfRun(): { properties: Record<string, Schema>; required: string[] } {
    const { properties, required } = this.fieldsOf('Run')
    const shared = bare(properties)
    for (const [name, field] of Object.entries(OF_RUNS)) {
      const { [field]: schema } = shared
      if (!schema) continue
      this.schemas[name] = schema
      shared[field] = ref(name)
    }
    return { properties: shared, required }
  }

  #shared(operationId: string, status: string, response: DocumentedResponse): Reference {
    const name = `${operationId.charAt(0).toUpperCase()}${operationId.slice(1)}${status}`
    this.responses[name] = response
    return { $ref: `#/components/responses/${name}` }
  }
}

/** Without the headers that every response has. */
function ownOf(headers: NonNullable<DocumentedResponse['headers']>): NonNullable<DocumentedResponse['headers']> {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !EVERYWHERE.test(name)))
}
const EVERYWHERE = /^(X-Request-Id|X-Api-Version|RateLimit-.*)$/

/** Schemas without descriptions, which the document of the API has: they would be repeated for each object. */
export function bare(schemas: Record<string, Schema>): Record<string, Schema> {
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { description: _text, ...schema }]) => [name, schema] as const),
  )
}

/** A union of the schemas. */
export function anyOf(schemas: readonly Schema[]): Schema {
  const [only] = schemas
  return schemas.length === 1 && only ? only : { anyOf: [...schemas] }
}
