import { z } from 'zod'
import { AGENT_TEXTS } from '../agents/openapi'
import { AS_CODE_TEXTS } from '../as-code/openapi'
import { KEY_TEXTS } from '../credentials/openapi'
import { SIGNING_SECRET_TEXTS } from '../credentials/openapi-secrets'
import { components } from '../definition/component'
import { EVENT_TEXTS } from '../events/openapi'
import { INBOUND_TEXTS } from '../inbound/openapi'
import { LINK_TEXTS } from '../links/openapi'
import { MCP_TEXTS } from '../mcp/openapi'
import * as members from '../members/openapi'
import { describeFields, OPTIONS, plainSchema, tidy } from '../openapi/schema'
import type { Schema, Texts } from '../openapi/types'
import { RUN_TEXTS } from '../runs/openapi'
import { SCHEDULE_TEXTS } from '../schedules/openapi'
import { STEP_TEXTS, stepSchemas } from '../steps/openapi'
import { TOOL_TEXTS } from '../tools/openapi'
import * as vault from '../vault/openapi'
import { WEBHOOK_TEXTS } from '../webhooks/openapi'
import { WORKFLOW_TEXTS } from '../workflows/openapi'

const TEXTS: Texts = {
  ...RUN_TEXTS,
  ...LINK_TEXTS,
  ...WORKFLOW_TEXTS,
  ...AGENT_TEXTS,
  ...TOOL_TEXTS,
  ...AS_CODE_TEXTS,
  ...STEP_TEXTS,
  ...EVENT_TEXTS,
  ...WEBHOOK_TEXTS,
  ...SCHEDULE_TEXTS,
  ...INBOUND_TEXTS,
  ...MCP_TEXTS,
  ...KEY_TEXTS,
  ...SIGNING_SECRET_TEXTS,
  ...members.MEMBER_TEXTS,
  ...vault.VAULT_TEXTS,
}

/**
 * The named schemas that the operations refer to, or that these refer to, in that order: generated from those the verbs
 * parse with.
 */
export function componentSchemas(operations: unknown): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(components, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` })
  const named = Object.fromEntries(Object.entries(schemas).map(([id, schema]) => [id, tidy(schema as Schema)]))
  const ofSteps = stepSchemas(named)
  Object.assign(named, ofSteps)
  for (const [id, texts] of Object.entries(TEXTS)) {
    const schema = named[id] ?? {}
    for (const choice of schema.oneOf ?? [schema]) describeFields(referred(named, choice), texts)
  }
  for (const schema of Object.values(named)) {
    const discriminator = discriminatorOf(schema, named)
    if (discriminator) schema.discriminator = discriminator
  }
  return reachedFrom(operations, withKinds(named, Object.keys(ofSteps)))
}

/** Says which schemas a step and a tool's configuration may have, although a draft need not match any of them yet. */
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

/** The field that tells the choices of a union apart: one text in each. */
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
