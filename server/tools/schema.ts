import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import type { JsonValue } from '../definition/json'
import type { AppError, ErrorDetail } from '../errors'
import { listVersioned } from '../versioned/list-schema'
import { SeenVersion } from '../versioned/seen-version'
import { HttpConfig } from './kinds/http-config'
import { McpConfig } from './kinds/mcp-config'
import { ScriptConfig } from './kinds/script-config'
import type { LogLine } from './sandbox/protocol'

/** `latest`, `published` or a number, also as text. Anything else counts as a missing version. */
export const Version = z.union([z.string().max(20), z.number()]).default('latest')

export const InvokeTool = component('InvokeTool', {
  args: z.record(z.string(), AnyJson).default({}).describe('The tool’s arguments.'),
  dataContext: z.record(z.string(), AnyJson).default({}).describe('Extra data for the tool.'),
  version: Version.describe('`latest`, `published`, or a number, also as text.'),
})

const ofKind = <K extends string, C extends z.ZodType>(kind: K, config: C) => ({
  kind: z.literal(kind).describe('The kind of tool.'),
  config: config.describe('What a tool of this kind does.'),
})

/** The configuration of each kind of tool. Built-in tools are absent because they cannot be created. */
export const ToolConfig = z
  .discriminatedUnion('kind', [
    component('ScriptToolConfig', ofKind('script', ScriptConfig)),
    component('HttpToolConfig', ofKind('http', HttpConfig)),
    component('McpToolConfig', ofKind('mcp', McpConfig)),
  ])
  .register(components, { id: 'ToolKindConfig' })
export type ToolConfig = z.infer<typeof ToolConfig>

export const TOOL_KINDS = ['script', 'http', 'mcp'] as const
export type { ToolDefinition, ToolKind } from '../definition/tool'

export const MAX_NAME = 200
const JsonSchema = z.record(z.string(), AnyJson).nullish()

const Common = {
  name: z.string().trim().min(1).max(MAX_NAME).describe('Not unique.'),
  description: z
    .string()
    .max(10_000)
    .describe('For people, and for agents, which use it to choose a tool.')
    .default(''),
  inputSchema: JsonSchema.describe('JSON Schema of its arguments; null if they are not checked.'),
  outputSchema: JsonSchema.describe('JSON Schema of its result; null if it is not checked.'),
}

const Kind = z.enum(TOOL_KINDS).describe('The kind of tool.')
/** Unknown here: `ToolConfig` checks it together with the kind. */
const Config = z
  .record(z.string(), AnyJson)
  .describe('What the tool does. Its fields depend on the kind: see the schema `ToolKindConfig`.')

export const CreateTool = component('CreateTool', {
  ...Common,
  kind: Kind,
  config: Config,
})

/**
 * Every field is optional: a missing one leaves its value unchanged, a given one replaces the value as a whole. Null
 * removes a schema.
 */
export const UpdateTool = component('UpdateTool', {
  ...Common,
  name: Common.name.optional(),
  description: Common.description.unwrap().optional(),
  kind: Kind.optional(),
  config: Config.optional(),
  version: SeenVersion,
})

const { search, status, includeArchived, limit, offset } = listVersioned('tools').shape

export const ListTools = z.object({
  search,
  status,
  kind: z
    .enum([...TOOL_KINDS, 'builtin'])
    .optional()
    .describe('Only tools of this kind.'),
  includeArchived,
  limit,
  offset,
})

export type ToolErrorCode =
  | 'EXECUTION_ERROR'
  | 'TIMEOUT'
  | 'OUTPUT_INVALID'
  | 'HTTP_ERROR'
  | 'CONNECTION_ERROR'
  | 'SECRET_MISSING'
  | 'BLOCKED_HOST'
  | 'SECRET_NOT_ALLOWED'

export interface ToolFailure {
  success: false
  error: { message: string; details: string[]; code: ToolErrorCode }
  /** Whether the same call may succeed later, so a run's step should retry it. Never shown. */
  transient?: boolean
  /** The delay the other side asked for. Never shown. */
  retryAfterMs?: number
}

export type ToolOutcome = ({ success: true; data: JsonValue } | ToolFailure) & {
  /** The script's console output. */
  logs?: LogLine[]
  /** How long the call waited for a slot before the tool ran. */
  waitedMs?: number
}

export function toolFailure(
  code: ToolErrorCode,
  message: string,
  details: string[] = [],
  retry: { transient?: boolean; retryAfterMs?: number | undefined } = {},
): ToolFailure {
  const { transient = false, retryAfterMs } = retry
  return {
    success: false,
    error: { message, details, code },
    ...(transient ? { transient } : {}),
    ...(transient && retryAfterMs !== undefined ? { retryAfterMs } : {}),
  }
}

/** Turns error details into texts, the form the API uses for tools. */
export function detailTexts(details: readonly ErrorDetail[]): string[] {
  return details.map(({ path, message }) => (path ? `${path}: ${message}` : message))
}

/** An error as one text, for places that show only text: its message and its first details. */
export function messageWithDetails({ message, details }: Pick<AppError, 'message' | 'details'>): string {
  const first = detailTexts(details).slice(0, 3).join('; ')
  return first === '' ? message : `${message}: ${first}`
}
