import { z } from 'zod'
import { AnyJson } from '../definition/any-json'
import { component, components } from '../definition/component'
import { ms } from '../openapi/fields'
import { itemFields, versionFields } from '../versioned/answers'
import { TOOL_KINDS } from './schema'

const kind = z.enum([...TOOL_KINDS, 'builtin'])
const JsonSchema = z.record(z.string(), AnyJson).nullable()

const said = {
  config: z.record(z.string(), AnyJson).nullable().describe('What the tool does; null for built-in tools.'),
  inputSchema: JsonSchema.describe('JSON Schema of its arguments; null if they are not checked.'),
  outputSchema: JsonSchema.describe('JSON Schema of its result; null if it is not checked.'),
}

export const ToolItem = component('ToolItem', {
  ...itemFields({ id: 'The `toolId` in other calls.', publishedVersion: 'Null if no version was ever published.' }),
  kind,
})

export const Tool = ToolItem.extend({
  ...said,
  publishedAt: z.iso.datetime().nullable(),
  archivedAt: z.iso.datetime().nullable(),
  hasUnpublishedChanges: z.boolean().describe('Whether the latest version is not the published one.'),
  createdBy: z.string(),
  updatedBy: z.string(),
}).register(components, { id: 'Tool' })

export const ToolVersionItem = component('ToolVersionItem', {
  ...versionFields({ id: "The tool's.", published: 'Whether it is the published one.' }),
  kind,
})
export const ToolVersion = ToolVersionItem.extend({ description: z.string(), ...said }).register(components, {
  id: 'ToolVersion',
})

const LogLine = component('LogLine', {
  level: z.enum(['debug', 'log', 'info', 'warn', 'error']),
  text: z.string(),
  truncated: z.literal(true).optional().describe('Set on the last line if the script wrote more than is kept.'),
})
const debug = z.object({
  executionTime: ms('How long the tool ran.'),
  logs: z.array(LogLine).optional().describe('What a script wrote to its console; absent if it wrote nothing.'),
})

export const ToolResult = z
  .discriminatedUnion('success', [
    component('ToolSuccess', { success: z.literal(true), data: AnyJson.describe('Any JSON value.'), debug }),
    component('ToolFailure', {
      success: z.literal(false),
      error: z.object({
        message: z.string(),
        details: z.array(z.string()),
        code: z.string().describe('`EXECUTION_ERROR`, `TIMEOUT`, `OUTPUT_INVALID` or another code of the tool’s kind.'),
      }),
      debug,
    }),
  ])
  .register(components, { id: 'ToolResult' })

const [, failed] = ToolResult.options
const schema = z.record(z.string(), AnyJson)

export const RemoteTools = z
  .discriminatedUnion('success', [
    component('RemoteToolList', {
      success: z.literal(true),
      data: z.object({
        tools: z
          .array(
            component('RemoteTool', {
              name: z.string().describe('The `toolName` of a tool of kind `mcp`.'),
              title: z.string().nullable(),
              description: z.string(),
              inputSchema: schema.describe('JSON Schema of its arguments.'),
              outputSchema: schema.nullable().describe('JSON Schema of its result.'),
            }),
          )
          .describe('As the server describes them.'),
      }),
    }),
    failed.omit({ debug: true }).register(components, { id: 'RemoteToolsFailure' }),
  ])
  .register(components, { id: 'RemoteTools' })
