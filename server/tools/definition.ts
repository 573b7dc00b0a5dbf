import type { z } from 'zod'
import { type JsonObject, toStorableJson, unstorable } from '../definition/json'
import { AppError, type ErrorDetail } from '../errors'
import { issuesToDetails } from '../parse'
import { schemaProblems } from './json-schema'
import { type CreateTool, ToolConfig, type ToolDefinition, type UpdateTool } from './schema'

const MAX_CONFIG_BYTES = 256 * 1024

/**
 * Parses the body of a create.
 * @throws AppError INVALID_INPUT
 */
export function newTool(parsed: z.infer<typeof CreateTool>): ToolDefinition {
  const { name, description, kind, config, inputSchema, outputSchema } = parsed
  return checked({
    name,
    description,
    kind,
    config,
    inputSchema: inputSchema ?? null,
    outputSchema: outputSchema ?? null,
  })
}

/**
 * The current tool with each field of the body replaced as a whole; a change of kind requires a new configuration.
 * @throws AppError INVALID_INPUT
 */
export function mergeTool(current: ToolDefinition, parsed: z.infer<typeof UpdateTool>): ToolDefinition {
  if (parsed.kind !== undefined && parsed.kind !== current.kind && parsed.config === undefined)
    throw new AppError('INVALID_INPUT', { details: [{ path: 'config', message: 'is required when the kind changes' }] })
  const { inputSchema = current.inputSchema, outputSchema = current.outputSchema } = parsed
  return checked({
    name: parsed.name ?? current.name,
    description: parsed.description ?? current.description,
    kind: parsed.kind ?? current.kind,
    config: parsed.config ?? current.config,
    inputSchema: inputSchema,
    outputSchema: outputSchema,
  })
}

function checked(tool: ToolDefinition): ToolDefinition {
  const definition = { ...tool, inputSchema: tool.inputSchema ?? null, outputSchema: tool.outputSchema ?? null }
  const problem = unstorable(definition)
  if (problem) throw new AppError('INVALID_INPUT', { details: [problem] })
  const parsed = ToolConfig.safeParse({ kind: tool.kind, config: tool.config })
  const details: ErrorDetail[] = [
    ...(parsed.success ? [] : issuesToDetails(parsed.error.issues)),
    ...(JSON.stringify(tool.config).length > MAX_CONFIG_BYTES
      ? [{ path: 'config', message: `is larger than ${MAX_CONFIG_BYTES} bytes` }]
      : []),
    ...inputSchemaProblems(definition.inputSchema),
    ...(definition.outputSchema ? schemaProblems(definition.outputSchema, 'outputSchema') : []),
  ]
  if (!parsed.success || details.length > 0) throw new AppError('INVALID_INPUT', { details })
  return { ...definition, config: toStorableJson({ ...parsed.data.config }) }
}

/** Arguments are always an object. */
function inputSchemaProblems(schema: JsonObject | null): ErrorDetail[] {
  if (!schema) return []
  if (schema.type !== undefined && schema.type !== 'object')
    return [{ path: 'inputSchema.type', message: 'must be "object", because arguments are an object' }]
  return schemaProblems(schema, 'inputSchema')
}
