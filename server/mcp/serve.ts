import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import type { ServiceContext } from '../context'
import { type JsonObject, toStorableJson } from '../definition/json'
import { AppError } from '../errors'
import { API_VERSION, JsonText } from '../http/respond'
import { listResources, readResource, TEMPLATES } from './resources'
import { asProtocolError } from './results'
import { callTool, listTools } from './tools'

const INSTRUCTIONS = [
  'Tools start the workflows of this workspace, call its tools and talk to its agents.',
  'A workflow returns its run with a status. `paused`: `pauses` says what the run asks; ask the user, and answer with answer_run.',
  '`running`: it takes longer; look again with get_run. `failed`: `error` says why. `completed`: `result` is the outcome.',
].join('\n')

/** The validator is only for answers of clients, and nothing is asked of them. Making the SDK's own takes long. */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'unexpected' }),
}

/**
 * Answers one message of the Model Context Protocol, over streamable HTTP without sessions: nothing is kept between two
 * messages, so any process may answer any of them, and the answer is plain JSON.
 * @throws AppError INVALID_INPUT for what is not a message of the protocol
 */
export async function answerMcp(
  ctx: ServiceContext,
  message: JsonObject,
  request: Request,
): Promise<{ status: number; body: JsonText | Uint8Array }> {
  const server = serverFor(ctx, request.signal)
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
  try {
    await server.connect(transport)
    const response = await transport.handleRequest(asTransportWants(request), { parsedBody: message })
    const text = await response.text()
    if (response.ok) return { status: response.status, body: text === '' ? new Uint8Array() : new JsonText(text) }
    throw new AppError('INVALID_INPUT', { details: [{ message: refusalIn(text) }] })
  } finally {
    await server.close()
  }
}

function serverFor(ctx: ServiceContext, signal: AbortSignal): Server {
  const server = new Server(
    { name: 'millrace', title: 'Millrace', version: API_VERSION },
    { capabilities: { tools: {}, resources: {} }, instructions: INSTRUCTIONS, jsonSchemaValidator: NO_VALIDATOR },
  )
  const guarded = <T>(work: Promise<T>) =>
    work.catch((err: unknown) => {
      throw asProtocolError(ctx, err)
    })
  server.setRequestHandler(ListToolsRequestSchema, ({ params }) => guarded(listTools(ctx, params?.cursor)))
  server.setRequestHandler(CallToolRequestSchema, ({ params: { name, arguments: args } }) =>
    guarded(callTool(ctx, { name, args: toStorableJson(args ?? {}) }, signal)),
  )
  server.setRequestHandler(ListResourcesRequestSchema, async () => ({ resources: await guarded(listResources(ctx)) }))
  server.setRequestHandler(ListResourceTemplatesRequestSchema, () => ({ resourceTemplates: TEMPLATES }))
  server.setRequestHandler(ReadResourceRequestSchema, ({ params }) => guarded(readResource(ctx, params.uri)))
  return server
}

/** The transport insists on a caller who also takes streams, although it answers without one. */
function asTransportWants({ url, headers }: Request): Request {
  const version = headers.get('mcp-protocol-version')
  return new Request(url, {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      ...(version === null ? {} : { 'mcp-protocol-version': version }),
    },
  })
}

function refusalIn(text: string): string {
  try {
    return String(JSON.parse(text).error.message)
  } catch {
    return 'This is not a message of the Model Context Protocol.'
  }
}
