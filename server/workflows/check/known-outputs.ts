import { loadAgent } from '../../agents/find'
import type { ServiceContext } from '../../context'
import { expand } from '../../definition/expand'
import { isJsonObject, type JsonValue, own } from '../../definition/json'
import { withPins } from '../../definition/pins'
import { type Definition, FIELD_TYPES, type FieldType } from '../../definition/schema'
import { typeOfSchema } from '../../definition/types/of-json-schema'
import type { ValueType } from '../../definition/types/type'
import { AppError } from '../../errors'
import { inSlices } from '../../give-way'
import type { Use } from '../../steps/define-step'
import type { DefinedField } from '../../steps/form'
import { findStepType } from '../../steps/registry'
import { loadTool } from '../../tools/find'
import { findRowAt } from '../../versioned/row-at'
import { WORKFLOW } from '../noun'
import { flowing, type KnownOutput } from './flow'
import { resultTypeOf } from './result-type'
import { definedAs } from './types'

/** How many levels of workflows that run each other to read for the type of a result. */
const MAX_NESTED = 2
/**
 * How many versions to read, and how many steps in them: a workflow may run 2,000 others, and each of those as many.
 */
const MAX_READ = 100
const MAX_STEPS = 4_000

/** The outputs read for one definition, at all levels. */
interface Read {
  /** By kind, id, version and level: each level reads one level less below it. */
  outputs: Map<string, Promise<KnownOutput | null>>
  versions: number
  steps: number
}

/**
 * The known outputs of steps by step id, from the objects they call: the output schemas of agents and tools, and the
 * results of workflows.
 * @param definition in the form that runs read
 */
export function knownOutputs(
  ctx: ServiceContext,
  definition: Definition,
  wanted?: ReadonlySet<string>,
): Promise<Map<string, KnownOutput>> {
  return outputsIn(ctx, definition, { outputs: new Map(), versions: 0, steps: 0 }, 0, wanted)
}

/**
 * The type of the result of a version of a workflow; null if it is not known, as in a version that was never published,
 * or once enough was read for it.
 */
export async function resultTypeAt(ctx: ServiceContext, id: string, version: number): Promise<ValueType | null> {
  const read = { outputs: new Map(), versions: 0, steps: 0 }
  return (await outputOf(ctx, { kind: 'workflow', id, version }, read, 0))?.type ?? null
}

async function outputsIn(
  ctx: ServiceContext,
  definition: Definition,
  read: Read,
  depth: number,
  wanted?: ReadonlySet<string>,
): Promise<Map<string, KnownOutput>> {
  const outputs = new Map<string, KnownOutput>()
  for (const step of definition.steps) {
    if (wanted && !wanted.has(step.id)) continue
    const type = findStepType(step.type)
    if (type?.mode !== 'effect' && !(type?.mode === 'pause' && type.startsRun)) continue
    const config = type.config.safeParse(step)
    const [use] = config.success ? (type.uses?.(config.data) ?? []) : []
    if (!use || use.id.includes('${')) continue
    // A child workflow has its own pins. An unpinned object may have another version by the time of a run.
    if (depth > 0 && !isNumber(use.version)) continue
    const key = `${depth}:${use.kind}:${use.id}@${use.version}`
    const output = read.outputs.get(key) ?? outputOf(ctx, use, read, depth)
    read.outputs.set(key, output)
    const known = await output
    if (known) outputs.set(step.id, known)
  }
  return outputs
}

/** `latest` and `published` may be another version by the time of a run. */
export function isPinned(version: Use['version']): boolean {
  return version === undefined || isNumber(version)
}

function isNumber(version: Use['version']): boolean {
  return version !== undefined && /^\d+$/.test(String(version))
}

/** Only those that a published version pins. */
export function pinnedOutputs(outputs: ReadonlyMap<string, KnownOutput>): Map<string, KnownOutput> {
  return new Map([...outputs].filter(([, { type }]) => type !== null))
}

/** Null without a schema, for a missing tool, agent or workflow, and once enough was read. */
async function outputOf(ctx: ServiceContext, use: Use, read: Read, depth: number): Promise<KnownOutput | null> {
  const kept = isPinned(use.version)
  if (use.kind === 'workflow' && (!kept || depth >= MAX_NESTED)) return null
  // The tools and agents of the definition itself are read for its problems anyway.
  if ((use.kind === 'workflow' || depth > 0) && ++read.versions > MAX_READ) return null
  try {
    if (use.kind === 'workflow') return await resultOf(ctx, use, read, depth)
    const version = use.version ?? 'latest'
    const schema =
      use.kind === 'tool'
        ? (await loadTool(ctx, use.id, version)).outputSchema
        : (await loadAgent(ctx, use.id, version)).config.outputSchema
    return schema && { field: fieldOf(schema), type: kept ? typeOfSchema(schema) : null, schema }
  } catch (err) {
    if (err instanceof AppError && err.status === 404) return null
    throw err
  }
}

/** Skips a workflow that was never published: it has no version to pin. */
async function resultOf(
  ctx: ServiceContext,
  { id, version = 'published' }: Use,
  read: Read,
  depth: number,
): Promise<KnownOutput | null> {
  const { version: found } = await findRowAt(ctx, WORKFLOW, id, version)
  const definition = expand(withPins(WORKFLOW.contentOf(found), found.pins))
  read.steps += definition.steps.length
  if (read.steps > MAX_STEPS) return null
  const outputs = pinnedOutputs(await outputsIn(ctx, definition, read, depth + 1))
  const type = resultTypeOf(definition, await inSlices(ctx.tenantId, flowing(definition, outputs)))
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
      ? Object.keys(properties).map((name) => {
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
