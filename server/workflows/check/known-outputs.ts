import { loadAgent } from '../../agents/find'
import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonObject, type JsonValue, own } from '../../definition/json'
import { type Definition, FIELD_TYPES, type FieldType } from '../../definition/schema'
import { AppError } from '../../errors'
import type { DefinedField } from '../../steps/form'
import { findStepType } from '../../steps/registry'
import { loadTool } from '../../tools/find'

/** The outputs of steps by step id, as far as the output schemas of the agents and tools they call describe them. */
export async function knownOutputs(ctx: ServiceContext, definition: Definition): Promise<Map<string, DefinedField>> {
  const schemas = new Map<string, JsonObject | null>()
  const outputs = new Map<string, DefinedField>()
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    const config = type?.config.safeParse(step)
    const [use] = config?.success ? (type?.uses?.(config.data) ?? []) : []
    if (!use || use.kind === 'workflow' || use.id.includes('${')) continue
    const version = use.version ?? 'latest'
    const key = `${use.kind}:${use.id}@${version}`
    const schema = schemas.get(key) ?? (await outputSchemaOf(ctx, use.kind, use.id, version))
    schemas.set(key, schema)
    if (schema) outputs.set(step.id, fieldOf(schema))
  }
  return outputs
}

/** Null when there is no schema, or no such tool or agent. */
async function outputSchemaOf(
  ctx: ServiceContext,
  kind: 'tool' | 'agent',
  id: string,
  version: string | number,
): Promise<JsonObject | null> {
  try {
    if (kind === 'tool') return (await loadTool(ctx, id, version)).outputSchema
    return (await loadAgent(ctx, id, version)).config.outputSchema
  } catch (err) {
    if (err instanceof AppError && (err.code === 'TOOL_NOT_FOUND' || err.code === 'AGENT_NOT_FOUND')) return null
    throw err
  }
}

const MAX_DEPTH = 3

/** The part of a JSON Schema that helps people write references. */
function fieldOf(schema: JsonValue | undefined, depth = 0): DefinedField {
  if (!isJsonObject(schema)) return { type: 'any' }
  const type = FIELD_TYPES.find((known) => known === schema.type) ?? 'any'
  const { description, properties } = schema
  const required = Array.isArray(schema.required) ? schema.required : []
  const inside =
    isJsonObject(properties) && depth < MAX_DEPTH
      ? Object.keys(properties)
          .filter((name) => NAME.test(name))
          .map((name) => {
            const field = fieldOf(own(properties, name), depth + 1)
            return [name, required.includes(name) ? field : { ...field, optional: true }] as const
          })
      : []
  return {
    type: type satisfies FieldType,
    ...(typeof description === 'string' ? { description: description.slice(0, 2000) } : {}),
    ...(inside.length === 0 ? {} : { properties: Object.fromEntries(inside) }),
  }
}

/** A name that can be used in a path. */
const NAME = /^[A-Za-z_][\w-]*$/
