import { z } from 'zod'
import { CreateAgent, UpdateAgent } from '../agents/schema'
import { Edge, Field, Step } from '../definition/schema'
import { CommonConfig } from '../definition/step-config'
import { ModelConfig } from '../models/schema'
import { RerunBody } from '../runs/rerun'
import { ResumeRun, StopRun } from '../runs/schema'
import { steps } from '../steps/registry'
import { McpServerConfig } from '../tools/kinds/mcp-config'
import { CreateTool, InvokeTool, ToolConfig, UpdateTool } from '../tools/schema'
import { CreateWorkflow, UpdateWorkflow } from '../workflows/schema'
import * as answers from './responses'
import * as agents from './responses-agents'
import * as tools from './responses-tools'
import { COMMON_STEP_TEXTS, FIELD_TEXTS } from './texts'
import type { Schema } from './types'

export const ErrorSchema = { $ref: '#/components/schemas/Error' } as const satisfies Schema

/** The fields of a start: the workflow says which. */
export const StartBody = z
  .record(z.string(), z.json())
  .describe(
    'The START fields of the workflow at the top level, or in an object `data`, which wins field by field. Which fields there are: `GET /api/workflow/metadata/input/{workflowId}`.',
  )

const NAMED: Record<string, z.ZodType> = {
  StartBody,
  ResumeRun,
  StopRun,
  RerunRun: RerunBody,
  CreateWorkflow,
  UpdateWorkflow,
  InvokeTool,
  Field,
  Step,
  Edge,
  Run: answers.Run,
  StepRecord: answers.StepRecord,
  PauseDescriptor: answers.PauseDescriptor,
  RunList: answers.RunList,
  StartedRun: answers.StartedRun,
  ResumedRun: answers.ResumedRun,
  RepeatedRun: answers.RepeatedRun,
  StoppedRun: answers.StoppedRun,
  InputSchema: answers.InputSchema,
  WorkflowItem: answers.WorkflowItem,
  Workflow: answers.Workflow,
  PublishedWorkflow: answers.PublishedWorkflow,
  Problem: answers.Problem,
  VersionItem: answers.VersionItem,
  Version: answers.Version,
  DeletedWorkflow: answers.DeletedWorkflow,
  InvokeAgent: agents.InvokeAgentBody,
  CreateAgent,
  UpdateAgent,
  ModelConfig,
  AgentItem: agents.AgentItem,
  Agent: agents.Agent,
  AgentVersionItem: agents.AgentVersionItem,
  AgentVersion: agents.AgentVersion,
  AgentSchema: agents.AgentSchema,
  AgentAnswer: agents.AgentAnswer,
  Chat: tools.ChatBody,
  ChatAnswer: tools.ChatAnswer,
  ToolResult: answers.ToolResult,
  CreateTool,
  UpdateTool,
  ToolConfig,
  McpServer: McpServerConfig,
  ToolItem: tools.ToolItem,
  Tool: tools.Tool,
  ToolVersionItem: tools.ToolVersionItem,
  ToolVersion: tools.ToolVersion,
  RemoteTools: tools.RemoteTools,
  Health: answers.Health,
  OpenApi: answers.OpenApi,
  Error: answers.ErrorAnswer,
}

const registry = z.registry<{ id: string }>()
for (const [id, schema] of Object.entries(NAMED)) registry.add(schema, { id })

const OPTIONS = { io: 'input', target: 'draft-2020-12', unrepresentable: 'any' } as const

/** Every named schema of the document, made of what the verbs parse with. */
export function componentSchemas(): Record<string, Schema> {
  const { schemas } = z.toJSONSchema(registry, { ...OPTIONS, uri: (id) => `#/components/schemas/${id}` })
  const named = Object.entries(schemas)
    .filter(([id]) => Object.hasOwn(NAMED, id))
    .map(([id, schema]) => [id, tidy(schema as Schema)] as const)
  const components = Object.fromEntries([...named, ...stepSchemas()])
  for (const [id, texts] of Object.entries(FIELD_TEXTS)) describeFields(components[id] ?? {}, texts)
  return components
}

/** Zod's own type of a JSON Schema allows more than zod writes. */
function jsonSchemaOf(schema: z.core.$ZodType, io: 'input' | 'output' = 'input'): Schema {
  return z.toJSONSchema(schema, { ...OPTIONS, io }) as Schema
}

/** A schema of a body: a reference when it has a name. */
export function schemaOf(schema: z.core.$ZodType): Schema {
  const id = registry.get(schema)?.id
  if (id !== undefined) return { $ref: `#/components/schemas/${id}` }
  if (schema instanceof z.ZodArray) return { type: 'array', items: schemaOf(schema.element) }
  return tidy(jsonSchemaOf(schema))
}

/** The schema of one parameter of a query: what its text must say, in JSON's types. */
export function querySchema(schema: z.ZodType): Schema {
  const text = tidy(jsonSchemaOf(schema))
  if (text.pattern === '^\\d{1,9}$') {
    const { minimum, maximum } = jsonSchemaOf(schema, 'output')
    return {
      type: 'integer',
      ...(minimum === undefined ? {} : { minimum }),
      ...(maximum === undefined ? {} : { maximum }),
    }
  }
  return text.enum?.join() === 'true,false' ? { type: 'boolean', default: false } : text
}

/** One schema for each type of step. A draft may say anything; publish and start hold its steps to these. */
function stepSchemas(): [string, Schema][] {
  return Object.values(steps).map(({ type, title, config }) => {
    const own = tidy(jsonSchemaOf(config))
    const common = tidy(jsonSchemaOf(CommonConfig))
    const description = `The step type \`${type}\`: ${title.toLowerCase()}. A draft may hold less; publish and start check this.`
    const properties: Record<string, Schema> = {
      id: { type: 'string', description: 'Unique within the workflow.' },
      type: { const: type },
      ...own.properties,
      ...common.properties,
    }
    const required = ['id', 'type', ...(own.required ?? [])]
    const schema: Schema = { type: 'object', description, properties, required }
    describeFields(schema, COMMON_STEP_TEXTS)
    return [stepSchemaName(type), schema]
  })
}

/** `call-tool` is `CallToolStep`. */
export function stepSchemaName(type: string): string {
  return `${type.replace(/(^|-)([a-z])/g, (_all, _dash, letter: string) => letter.toUpperCase())}Step`
}

const NOISE = ['$schema', '$id', '$defs', 'id'] as const

/** Zod spells any JSON value out as a schema that refers to itself; the empty schema says the same. */
const ANY_JSON = /(__shared)?#\/\$defs\/(__)?schema\d+$/

/** Without what says nothing: any object may have more fields, so `additionalProperties` stays where more are meant. */
function tidy(schema: Schema): Schema {
  const { $ref, properties, additionalProperties, propertyNames, items, anyOf, oneOf, maximum, ...rest } = schema
  const result: Schema = { ...rest }
  for (const key of NOISE) Reflect.deleteProperty(result, key)
  if ($ref !== undefined && !ANY_JSON.test($ref)) result.$ref = $ref
  if (properties) {
    result.properties = Object.fromEntries(Object.entries(properties).map(([name, value]) => [name, tidy(value)]))
  }
  if (typeof additionalProperties === 'object') {
    const more = tidy(additionalProperties)
    if (Object.keys(more).length > 0) result.additionalProperties = more
    else if (properties) result.additionalProperties = true
  }
  if (propertyNames?.pattern) result.propertyNames = { pattern: propertyNames.pattern }
  if (items) result.items = tidy(items)
  if (anyOf) Object.assign(result, nullable(anyOf.map(tidy)))
  if (oneOf) result.oneOf = oneOf.map(tidy)
  if (maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER) result.maximum = maximum
  if (result.minimum === -Number.MAX_SAFE_INTEGER) delete result.minimum
  if (result.format === 'date-time') delete result.pattern
  return result
}

/** `text or null` as one list of types, which reads better and says the same. */
function nullable(choices: Schema[]): Schema {
  const [first, second] = choices
  if (choices.length !== 2 || second?.type !== 'null' || typeof first?.type !== 'string') return { anyOf: choices }
  const values = first.enum ? { enum: [...first.enum, null] } : {}
  return { ...first, type: [first.type, 'null'], ...values }
}

/** Puts texts on fields of schemas that belong to verbs. */
function describeFields(schema: Schema, texts: Record<string, string>): void {
  for (const variant of schema.oneOf ?? [schema]) {
    for (const [name, text] of Object.entries(texts)) {
      const field = variant.properties?.[name]
      if (field) field.description = text
    }
  }
}
