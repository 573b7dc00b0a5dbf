import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Operation } from '../auth/policy'
import type { ServiceContext } from '../context'
import { schemaOfFields } from '../definition/fields-schema'
import { isFileField, isFileList } from '../definition/file-fields'
import { cutText, isJsonObject, type JsonObject } from '../definition/json'
import type { Field, Fields } from '../definition/schema'
import { toolName, type Word } from '../models/tool-names'
import { startAndWait } from '../runs/start-and-wait'
import type { Waiting } from '../talk/await-run'
import { chat } from '../talk/chat'
import { invokeAgent } from '../talk/invoke'
import { flatSchema, isAcceptableName } from '../tools/acceptable-schema'
import { invokeTool } from '../tools/invoke'
import type { Published } from './published'
import { outlineOf, result } from './results'

const MAX_DESCRIPTION = 2_000

interface Kind {
  operation: Operation
  /** The limit that a call counts against. */
  limit: 'starts' | 'invokes'
  /** Follows the description of the object. */
  does: (one: Published) => string
  inputSchema: (one: Published) => Tool['inputSchema']
  call: (ctx: ServiceContext, one: Published, args: JsonObject, signal: AbortSignal) => Promise<CallToolResult>
}

/** In listing order. */
export const KINDS: Readonly<Record<Word, Kind>> = {
  workflow: {
    operation: 'run:start',
    limit: 'starts',
    does: ({ name, fields }) =>
      `Starts the workflow "${name}" and waits until the run ends or pauses.${fields ? '' : ' Its fields are too large to be listed here.'}`,
    inputSchema: ({ fields }) => objectSchema(fields ? schemaOfFields(withFileHints(fields)) : {}),
    call: async (ctx, { id }, args, signal) => {
      const { run } = await startAndWait(ctx, { workflowId: id, body: args, prefer: null, signal })
      return result(outlineOf(run), run.status === 'failed')
    },
  },
  agent: {
    operation: 'agent:invoke',
    limit: 'invokes',
    does: ({ name }) => `Sends a message to the agent "${name}" and returns its answer.`,
    inputSchema: () =>
      objectSchema({
        properties: {
          message: { type: 'string', description: 'What to say to the agent.' },
          threadId: { type: 'string', description: 'Continues the conversation of an earlier answer.' },
          dataContext: { type: 'object', description: 'Values that the agent can read.' },
        },
        required: ['message'],
        additionalProperties: false,
      }),
    call: async (ctx, { id, speaks }, { message, threadId, dataContext }, signal) => {
      const body = { message: message ?? null, threadId: threadId ?? null, dataContext: dataContext ?? null }
      const asked = { ...body, version: 'published' }
      if (speaks) {
        const answer = await chat(ctx, { ...asked, agentId: id }, signal)
        return result('runId' in answer ? waitingOf(answer) : { message: answer.message, threadId: answer.threadId })
      }
      const answer = await invokeAgent(ctx, { agentId: id, body: asked }, signal)
      return result('runId' in answer ? waitingOf(answer) : { data: answer.data, threadId: answer.threadId })
    },
  },
  tool: {
    operation: 'tool:invoke',
    limit: 'invokes',
    does: ({ name }) => `Calls the tool "${name}".`,
    inputSchema: ({ schema }) => objectSchema(schema ?? {}),
    call: async (ctx, { id }, args, signal) => {
      const outcome = await invokeTool(ctx, { toolId: id, body: { args, version: 'published' } }, signal)
      return outcome.success ? result({ data: outcome.data }) : result({ error: outcome.error }, true)
    },
  },
}

/** A turn that waits for people, as a run that does. */
function waitingOf({ runId, status, threadId, pauseSignals }: Waiting) {
  return { runId, status, threadId, pauses: pauseSignals }
}

/** An object in the protocol's form. */
export function describe(one: Published): Tool {
  const { word, id, name, description } = one
  const { does, inputSchema } = KINDS[word]
  const { schema, unlisted } = listable(inputSchema(one))
  const others = unlisted.map((argument) => `It also takes the argument ${JSON.stringify(argument)}.`)
  const texts = [cutText(description.trim(), MAX_DESCRIPTION), does(one), cutText(others.join(' '), MAX_DESCRIPTION)]
  return {
    name: toolName(word, id, name),
    title: name,
    description: texts.filter(Boolean).join('\n\n'),
    inputSchema: schema,
  }
}

/** A file cannot be sent here, only referenced. */
function withFileHints(fields: Fields): Fields {
  const hinted = Object.entries(fields).map(([name, field]) =>
    isFileField(field)
      ? [name, { ...field, description: [field.description, hintOf(field)].filter(Boolean).join(' ') }]
      : [name, field],
  )
  return Object.fromEntries(hinted)
}

function hintOf(field: Field): string {
  return isFileList(field)
    ? 'The ids of files that are stored in this workspace.'
    : 'The id of a file that is stored in this workspace.'
}

/** Omitted rules are still checked by the call. */
function listable(given: Tool['inputSchema']): { schema: Tool['inputSchema']; unlisted: string[] } {
  const schema = flatSchema(given as JsonObject)
  const properties = isJsonObject(schema.properties) ? schema.properties : {}
  const unlisted = Object.keys(properties).filter((name) => !isAcceptableName(name))
  if (unlisted.length === 0) return { schema: schema as Tool['inputSchema'], unlisted }
  const { additionalProperties: _more, required, ...rest } = schema
  const listed = {
    ...rest,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isAcceptableName(name))),
    ...(Array.isArray(required) ? { required: required.filter(isAcceptableName) } : {}),
  }
  return { schema: listed as unknown as Tool['inputSchema'], unlisted }
}

/** The schema of a fixed tool's arguments. */
export function objectSchema(schema: JsonObject): Tool['inputSchema'] {
  return { ...schema, type: 'object' } as Tool['inputSchema']
}
