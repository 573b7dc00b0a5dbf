import { z } from 'zod'
import { components } from '../definition/component'
import { OPTIONS, plainSchema, tidy } from '../openapi/schema'
import type { Schema } from '../openapi/types'
import { stepSchemas } from '../steps/openapi'

/**
 * The named schemas that the operations refer to, directly or through other schemas, in that order: generated from
 * those the verbs parse with.
 */
export function componentSchemas(operations: unknown): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(components, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` })
  const named = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, tidy(schema as Schema)]))
  const ofSteps = stepSchemas(named)
  Object.assign(named, ofSteps)
  for (const schema of Object.values(named)) {
    const discriminator = discriminatorOf(schema, named)
    if (discriminator) schema.discriminator = discriminator
  }
  return reachedFrom(operations, withKinds(named, Object.keys(ofSteps)))
}

/** Lists the schemas that a step and a tool's configuration may have, although a draft need not match any of them. */
function withKinds(named: Record<string, Schema>, stepNames: string[]): Record<string, Schema> {
  const { Step: DraftStep = {}, CreateTool, UpdateTool } = named
  const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` })
  for (const tool of [CreateTool, UpdateTool]) {
    const { description = '', ...config } = tool?.properties?.config ?? {}
    if (tool?.properties) tool.properties.config = { description, anyOf: [refer('ToolKindConfig'), config] }
  }
  return { ...named, DraftStep, Step: { anyOf: [...stepNames, 'DraftStep'].map(refer) } }
}

const REFERENCE = /"\$ref":"#\/components\/schemas\/(\w+)"/g

function reachedFrom(operations: unknown, named: Record<string, Schema>): Record<string, Schema> {
  const reached: Record<string, Schema> = {}
  const reach = (from: unknown) => {
    for (const [, id = ''] of JSON.stringify(from).matchAll(REFERENCE)) {
      const schema = named[id]
      if (!schema || Object.hasOwn(reached, id)) continue
      reached[id] = schema
      reach(schema)
    }
  }
  reach(operations)
  return reached
}

/** The schema that another one refers to, or itself. */
function referred(components: Record<string, Schema>, schema: Schema): Schema {
  return components[schema.$ref?.split('/').at(-1) ?? ''] ?? schema
}

/** The field that distinguishes the choices of a union: one text in each. */
function discriminatorOf({ oneOf = [] }: Schema, components: Record<string, Schema>): Schema['discriminator'] {
  const [first] = oneOf
  if (!first || oneOf.some(({ $ref }) => $ref === undefined)) return undefined
  for (const propertyName of Object.keys(referred(components, first).properties ?? {})) {
    const mapping = oneOf.flatMap((choice) => {
      const value = referred(components, choice).properties?.[propertyName]?.const
      return typeof value === 'string' ? [[value, choice.$ref ?? ''] as const] : []
    })
    if (mapping.length === oneOf.length) return { propertyName, mapping: Object.fromEntries(mapping) }
  }
  return undefined
}

/** A body's schema: a reference if it has a name. */
export function schemaOf(schema: z.core.$ZodType): Schema {
  const id = components.get(schema)?.id
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` }
  if (schema instanceof z.ZodArray) return { type: 'array', items: schemaOf(schema.element) }
  return plainSchema(schema)
}
