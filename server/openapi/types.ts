import type { z } from 'zod'
import type { JsonValue } from '../definition/json'
import type { ErrorCode } from '../errors'
import type { Role } from '../roles'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export const TAGS = {
  Runs: 'Start a workflow, follow the run, answer what it asks, stop it.',
  Workflows: 'Create, change, publish and version the definitions that runs follow.',
  Agents: 'Invoke agents; create, change, publish and version them.',
  Tools: 'Call a tool without an agent; create, change, publish and version tools.',
  Files: 'What was sent with a start.',
  Service: 'About the service itself. No credential is needed.',
} as const
export type Tag = keyof typeof TAGS

/** A header of a request that means something to an operation. */
export type RequestHeader = 'Idempotency-Key' | 'If-Match' | 'If-None-Match' | 'Last-Event-ID' | 'Prefer'
export type ResponseHeader =
  | 'ETag'
  | 'Link'
  | 'Location'
  | 'X-Total-Count'
  | 'X-Workflow-Version'
  | 'Content-Disposition'

export interface Example {
  summary: string
  value: JsonValue
}

/** A good answer. JSON unless it has a `contentType`; none at all without a schema. */
export interface Answer {
  description: string
  schema?: z.ZodType
  contentType?: string
  /** How it looks as a stream of events, where a caller may ask for one. */
  stream?: string
  headers?: readonly ResponseHeader[]
  examples?: Record<string, Example>
}

/** One method of one path: all that the document and the reference page know of it. */
export interface Operation {
  id: string
  method: Method
  /** With parameters as `{name}`. */
  path: string
  /** What the parameters of the path mean, by name; those of other paths may stand here, too. */
  parameters?: Record<string, { description: string; example: string }>
  tag: Tag
  summary: string
  description: string
  /** The lowest role that may call it; `nobody` when no credential is needed. */
  role: Role | 'nobody'
  /** The schema the verb parses the query string with. */
  query?: z.ZodObject
  /** What the parameters of the query mean, by name. */
  queryTexts?: Record<string, string>
  headers?: readonly RequestHeader[]
  body?: {
    /** The schema the verb parses the body with. */
    schema: z.ZodType
    required: boolean
    /** The form that may be sent instead. */
    form?: Schema
    examples: Record<string, Example>
  }
  answers: Record<number, Answer>
  /** Besides those that any operation can answer. */
  errors: readonly ErrorCode[]
}

/** Texts for fields of schemas that belong to verbs: by the schema's name and the field's. */
export type Texts = Record<string, Record<string, string>>

/** A JSON schema as it stands in the document: draft 2020-12. */
export interface Schema {
  $ref?: string
  type?: string | string[]
  title?: string
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: Schema | boolean
  propertyNames?: Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  enum?: JsonValue[]
  const?: JsonValue
  default?: JsonValue
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  minItems?: number
  maxItems?: number
}

export interface Parameter {
  name: string
  in: 'path' | 'query' | 'header'
  required?: boolean
  description: string
  schema: Schema
  example?: JsonValue
}

export interface MediaType {
  schema: Schema
  examples?: Record<string, Example | { $ref: string }>
  encoding?: Record<string, { contentType: string }>
}

export interface DocumentedResponse {
  description: string
  headers?: Record<string, { $ref: string }>
  content?: Record<string, MediaType>
}

export interface DocumentedOperation {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security?: Record<string, string[]>[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { required: boolean; content: Record<string, MediaType> }
  responses: Record<string, DocumentedResponse>
  'x-role': Role | 'nobody'
}

export interface OpenApiDocument {
  openapi: '3.1.1'
  info: {
    title: string
    version: string
    summary: string
    description: string
    license: { name: string; identifier: string }
  }
  jsonSchemaDialect: string
  servers: { url: string; description: string }[]
  security: Record<string, string[]>[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation>>
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    headers: Record<string, { description: string; schema: Schema }>
    examples: Record<string, Example>
    securitySchemes: Record<string, Record<string, string>>
  }
}
