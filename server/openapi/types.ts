import type { z } from 'zod'
import type { JsonValue } from '../definition/json'
import type { ErrorCode } from '../errors'
import type { Role } from '../roles'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export const TAGS = {
  Runs: 'Start workflows, follow runs, answer their pauses, stop them.',
  Workflows: 'Create, change, publish and version the definitions that runs follow.',
  Agents: 'Invoke agents; create, change, publish and version them.',
  Usage: 'The tokens and the cost of models, by day, agent and subject.',
  Tools: 'Call a tool without an agent; create, change, publish and version tools.',
  Definitions: 'Export all definitions, compare them and apply them: for workflows, agents and tools kept as files.',
  Files: 'Files of runs and of messages to agents, and uploads for them.',
  Events: 'Report events of other systems to waiting runs.',
  Schedules: 'Start a workflow at set times.',
  'Inbound webhooks': 'Start a workflow when another system sends something.',
  Subjects: 'Count and delete the data of one person whom your tokens name.',
  Webhooks: 'Notify other services about runs, with signed messages that are retried for days.',
  Members: 'The people of the workspace, their roles and groups; invitations.',
  Vault: 'Secrets that tools and agents send to other services. Nobody can read them.',
  'API keys': 'The keys of the workspace: list, create, replace, disable.',
  'Signing secrets': 'What your backends sign tokens for their own users with: list, create, limit, replace, disable.',
  'Audit log': 'Who changed what in the workspace.',
  MCP: 'The workspace as a server of the Model Context Protocol.',
  Service: 'About the service itself. No credential is needed.',
} as const
export type Tag = keyof typeof TAGS

/** A request header that an operation uses. */
export type RequestHeader =
  | 'Idempotency-Key'
  | 'If-Match'
  | 'If-None-Match'
  | 'Last-Event-ID'
  | 'Prefer'
  | 'X-Upload-Token'
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

/** A successful response: JSON unless it has a `contentType`, no body without a schema. */
export interface Answer {
  description: string
  schema?: z.ZodType
  contentType?: string
  /** An example of the event stream, if a caller may ask for one, and the schema of its events. */
  stream?: string
  event?: z.ZodType
  /** The CSV file, if a caller may ask for one. */
  csv?: string
  headers?: readonly ResponseHeader[]
  examples?: Record<string, Example>
}

/** One method of one path: everything the document and the reference page know about it. */
export interface Operation {
  id: string
  method: Method
  /** With parameters as `{name}`. */
  path: string
  /** Path parameters by name; may include ones this path does not have. */
  parameters?: Record<string, { description: string; example: string }>
  tag: Tag
  summary: string
  description: string
  /** The lowest role that may call it; `nobody` if it needs no credential. */
  role: Role | 'nobody'
  /** Some requests need a credential nevertheless. */
  mayNeedCredential?: true
  /** The schema the verb parses the query string with, which describes the parameters. */
  query?: z.ZodObject
  headers?: readonly RequestHeader[]
  body?: {
    /** The schema the verb parses the body with. */
    schema: z.ZodType
    required: boolean
    /** The form callers may send instead. */
    form?: Schema
    examples: Record<string, Example>
  }
  /** What the body is, if it is bytes and no JSON. */
  bytes?: string
  answers: Record<number, Answer>
  /** In addition to those any operation can answer. */
  errors: readonly ErrorCode[]
}

/** A JSON Schema as written in the document: draft 2020-12. */
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
  allOf?: Schema[]
  /** The schema of `oneOf` that a value has, by one of its fields. */
  discriminator?: { propertyName: string; mapping: Record<string, string> }
  enum?: JsonValue[]
  const?: JsonValue
  default?: JsonValue
  format?: string
  pattern?: string
  minLength?: number
  maxLength?: number
  minimum?: number
  maximum?: number
  exclusiveMinimum?: number
  exclusiveMaximum?: number
  multipleOf?: number
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

export interface Reference {
  $ref: string
}

/** @typeParam R how it shows its responses: in full, or also as references to shared ones */
export interface DocumentedOperation<R = DocumentedResponse> {
  operationId: string
  tags: string[]
  summary: string
  description: string
  security?: Record<string, string[]>[]
  parameters: (Parameter | { $ref: string })[]
  requestBody?: { required: boolean; content: Record<string, MediaType> }
  responses: Record<string, R>
  'x-role': Role | 'nobody'
}

export interface OpenApiDocument<R = DocumentedResponse> {
  openapi: '3.1.1'
  info: {
    title: string
    version: string
    summary: string
    description: string
    license: { name: string; identifier: string }
    contact: { name: string; url: string }
  }
  jsonSchemaDialect: string
  servers: { url: string; description: string }[]
  security: Record<string, string[]>[]
  tags: { name: string; description: string }[]
  paths: Record<string, Record<string, DocumentedOperation<R>>>
  components: {
    schemas: Record<string, Schema>
    responses?: Record<string, DocumentedResponse>
    parameters: Record<string, Parameter>
    headers: Record<string, { description: string; schema: Schema }>
    examples: Record<string, Example>
    securitySchemes: Record<string, Record<string, string>>
  }
}
