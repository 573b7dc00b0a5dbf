import type { JsonObject } from '../definition/json'
import { foreignSchema } from '../openapi/foreign'
import { ANY_OBJECT } from '../openapi/of-type'
import type { Schema } from '../openapi/types'
import { nameFrom } from './names'
import { type Blueprint, json, type Parts, ref } from './parts'
import type { Listed, ReadAgent, ReadTool } from './read'

const MAX_DESCRIPTION = 1_000
/** Without it, callers get the latest version, which may have other schemas. */
const PUBLISHED: Schema = { type: 'string', const: 'published' }

/** The call of an agent that answers with data. Null for other agents. */
export function agentParts(
  blueprint: Blueprint,
  { id, name }: Listed,
  key: string,
  { description, outputSchema }: ReadAgent,
): Parts | null {
  if (outputSchema === null) return null
  const answer = blueprint.names.give(`${key}Answer`)
  const data = blueprint.names.give(`${key}Data`)
  const { properties, required } = blueprint.fieldsOf('AgentAnswer')
  const path = `/api/agents/${id}/invoke`
  const base = blueprint.fieldsOf('InvokeAgent')
  const body: Schema = {
    type: 'object',
    properties: { ...base.properties, version: PUBLISHED },
    required: [...base.required, 'version'],
  }
  const operation = blueprint.operation('/api/agents/{agentId}/invoke', 'post', {
    id: `invoke${key}`,
    path,
    summary: `Invoke “${name}”`,
    description: about(description, 'Without `threadId` it starts a new conversation.'),
    body: { required: true, content: json(body) },
    answers: { 200: ref(answer) },
  })
  return {
    paths: { [path]: { post: operation } },
    schemas: {
      ...named(blueprint, data, outputSchema),
      [answer]: { type: 'object', properties: { ...properties, data: ref(data) }, required },
    },
  }
}

/** The call of a tool. */
export function toolParts(
  blueprint: Blueprint,
  { id, name }: Listed,
  key: string,
  { description, inputSchema, outputSchema }: ReadTool,
): Parts {
  const args = blueprint.names.give(`${key}Args`)
  const data = blueprint.names.give(`${key}Data`)
  const success = blueprint.names.give(`${key}Success`)
  const result = blueprint.names.give(`${key}Result`)
  const path = `/api/tools/${id}/invoke`
  const needsArgs = Array.isArray(inputSchema?.required) && inputSchema.required.length > 0
  const { properties } = blueprint.fieldsOf('InvokeTool')
  const good = blueprint.fieldsOf('ToolSuccess')
  const body: Schema = {
    type: 'object',
    properties: { args: ref(args), dataContext: without(properties.dataContext), version: PUBLISHED },
    required: needsArgs ? ['args', 'version'] : ['version'],
  }
  const operation = blueprint.operation('/api/tools/{toolId}/invoke', 'post', {
    id: `call${key}`,
    path,
    summary: `Call “${name}”`,
    description: about(description, 'If the tool itself fails, the response has `success: false`.'),
    body: { required: true, content: json(body) },
    answers: { 200: ref(result) },
  })
  return {
    paths: { [path]: { post: operation } },
    schemas: {
      ...(inputSchema ? named(blueprint, args, { type: 'object', ...inputSchema }) : { [args]: ANY_OBJECT }),
      ...(outputSchema ? named(blueprint, data, outputSchema) : { [data]: { description: 'Any JSON value.' } }),
      [success]: { type: 'object', properties: { ...good.properties, data: ref(data) }, required: good.required },
      [result]: { anyOf: [ref(success), ref('ToolFailure')] },
    },
  }
}

function named(blueprint: Blueprint, name: string, schema: JsonObject): Record<string, Schema> {
  return foreignSchema(schema, name, (definition) => blueprint.names.give(`${name}${nameFrom(definition)}`))
}

function about(description: string, text: string): string {
  const said = description.trim().slice(0, MAX_DESCRIPTION)
  return said === '' ? text : `${said}\n\n${text}`
}

function without({ default: _preset, ...schema }: Schema = {}): Schema {
  return { ...ANY_OBJECT, ...schema }
}
