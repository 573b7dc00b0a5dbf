import { loadAgent } from '../../agents/find'
import type { ServiceContext } from '../../context'
import { expand } from '../../definition/expand'
import { isJsonObject, type JsonValue, own } from '../../definition/json'
import { withPins } from '../../definition/pins'
import { type Definition, FIELD_TYPES, type FieldType } from '../../definition/schema'
import { typeOfSchema } from '../../definition/types/of-json-schema'
import { AppError } from '../../errors'
import type { Use } from '../../steps/define-step'
import type { DefinedField } from '../../steps/form'
import { findStepType } from '../../steps/registry'
import { loadTool } from '../../tools/find'
import { findRow, findVersion } from '../../versioned/rows'
import { WORKFLOW } from '../noun'
import type { KnownOutput } from './flow'
import { resultTypeOf } from './result-type'
import { definedAs } from './types'

/** So many workflows that run each other are read for the type of a result. */
const MOST_NESTED = 2

/**
 * The outputs of steps by step id, as far as what they call says: the output schemas of agents and tools, and the ends of
 * workflows.
 * @param definition as runs read it
 */
export async function knownOutputs(
  ctx: ServiceContext,
  definition: Definition,
  depth = 0,
): Promise<Map<string, KnownOutput>> {
  const found = new Map<string, Promise<KnownOutput | null>>()
  const outputs = new Map<string, KnownOutput>()
  for (const step of definition.steps) {
    const type = findStepType(step.type)
    if (type?.mode !== 'effect' && !(type?.mode === 'pause' && type.startsRun)) continue
    const config = type.config.safeParse(step)
    const [use] = config.success ? (type.uses?.(config.data) ?? []) : []
    if (!use || use.id.includes('${')) continue
    const key = `${use.kind}:${use.id}@${use.version}`
    const output = found.get(key) ?? outputOf(ctx, use, depth)
    found.set(key, output)
    const known = await output
    if (known) outputs.set(step.id, known)
  }
  return outputs
}

/** Only those that a published version keeps to. */
export function keptOutputs(outputs: ReadonlyMap<string, KnownOutput>): Map<string, KnownOutput> {
  return new Map([...outputs].filter(([, { type }]) => type !== null))
}

/** Null when there is no schema, or no such tool, agent or workflow. */
async function outputOf(ctx: ServiceContext, use: Use, depth: number): Promise<KnownOutput | null> {
  // `latest` and `published` may be another version by the time of a run.
  const isKept = use.version === undefined || /^\d+$/.test(String(use.version))
  try {
    if (use.kind === 'workflow') return isKept && depth < MOST_NESTED ? await resultOf(ctx, use, depth) : null
    const version = use.version ?? 'latest'
    const schema =
      use.kind === 'tool'
        ? (await loadTool(ctx, use.id, version)).outputSchema
        : (await loadAgent(ctx, use.id, version)).config.outputSchema
    return schema && { field: fieldOf(schema), type: isKept ? typeOfSchema(schema) : null, schema }
  } catch (err) {
    if (err instanceof AppError && err.status === 404) return null
    throw err
  }
}

/** Null also of a workflow that was never published: there is no version to keep to. */
async function resultOf(ctx: ServiceContext, { id, version }: Use, depth: number): Promise<KnownOutput | null> {
  const row = await findRow(ctx, WORKFLOW, id)
  const wanted = version ?? row.publishedVersion
  if (wanted === null) return null
  const found = await findVersion(ctx, WORKFLOW, row, wanted)
  const definition = expand(withPins(WORKFLOW.contentOf(found), found.pins))
  // Without pins, it may use other versions by the time of a run.
  const outputs = found.pins === null ? undefined : keptOutputs(await knownOutputs(ctx, definition, depth + 1))
  const type = resultTypeOf(definition, outputs)
  return { field: definedAs(type), type }
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
