import { randomUUID } from 'node:crypto'
import { Server } from '@modelcontextprotocol/sdk/server/index.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import {
  CallToolRequestSchema,
  ListResourcesRequestSchema,
  ListResourceTemplatesRequestSchema,
  ListToolsRequestSchema,
  ReadResourceRequestSchema,
} from '@modelcontextprotocol/sdk/types.js'
import { authorize } from '../auth/policy'
import type { ServiceContext } from '../context'
import { isJsonObject, type JsonObject, type JsonValue, toStorableJson } from '../definition/json'
import { AppError } from '../errors'
import { reserveStream } from '../http/open-streams'
import { API_VERSION, JsonText } from '../http/respond'
import { takesStream } from '../http/sse'
import { askFor, takeAnswer } from './ask'
import { listResources, readResource, TEMPLATES } from './resources'
import { asProtocolError, failed } from './results'
import { callTool, listTools } from './tools'

const INSTRUCTIONS = [
  'Tools start the workflows of this workspace, call its tools and talk to its agents.',
  'A workflow returns its run with a status. `paused`: `pauses` says what the run asks; ask the user, and answer with answer_run.',
  '`running`: it takes longer; look again with get_run. `failed`: `error` says why. `completed`: `result` is the outcome.',
  'To build a workflow, if the tools for it are listed: get_workflow_schema, create_workflow or edit_workflow, check_workflow and simulate_workflow until nothing is wrong, then publish_workflow if the user wants it.',
].join('\n')

/**
 * Validates nothing, because only clients' answers would be validated and the SDK never asks. Creating the SDK's own is
 * slow.
 */
const NO_VALIDATOR = {
  getValidator: () => () => ({ valid: false as const, data: undefined, errorMessage: 'unexpected' }),
}

/** The prefix of a session id whose client can ask its user. A session has no other state, and none is stored. */
const CAN_ASK = 'asks-'
const SESSION = 'mcp-session-id'

interface Answer {
  status: number
  body: JsonText | Uint8Array | ReadableStream<Uint8Array>
  headers?: Record<string, string>
}

/**
 * Answers one message of the Model Context Protocol over streamable HTTP. Nothing is stored between messages, so any
 * process may answer any of them. The answer is plain JSON, except for a call whose run waits for something the client
 * can ask its user: then it is a stream with the questions, and their answers come as messages of their own.
 * @throws AppError FORBIDDEN; INVALID_INPUT if it is not a message of the protocol
 */
export async function answerMcp(ctx: ServiceContext, message: JsonObject, request: Request): Promise<Answer> {
  authorize(ctx, 'run:read')
  if (await takeAnswer(ctx, message)) return { status: 202, body: new Uint8Array() }
  const answer = await answerOne(ctx, message, request)
  if (message.method === 'initialize' && canAsk(message.params))
    return { ...answer, headers: { [SESSION]: `${CAN_ASK}${randomUUID()}` } }
  const asks = request.headers.get(SESSION)?.startsWith(CAN_ASK) && takesStream(request)
  const runId = asks && message.method === 'tools/call' ? pausedRunIn(answer.body) : null
  const leave = runId === null ? null : placeFor(ctx)
  if (runId === null || !leave) return answer
  return withQuestions(ctx, { message, answer, runId, signal: request.signal, leave })
}

/** A place among the open streams; null if none is free, because the run has started and the call must return it. */
function placeFor({ tenantId, log }: ServiceContext): (() => void) | null {
  try {
    return reserveStream(tenantId)
  } catch (err) {
    if (!(err instanceof AppError)) throw err
    log.info({ code: err.code }, 'an MCP client is not asked: too many streams are open')
    return null
  }
}

/** A client that only opens addresses cannot show a form. */
function canAsk(params: JsonValue | undefined): boolean {
  const { elicitation } = isJsonObject(params) && isJsonObject(params.capabilities) ? params.capabilities : {}
  return isJsonObject(elicitation) && (Object.hasOwn(elicitation, 'form') || !Object.hasOwn(elicitation, 'url'))
}

/** The run that a call returned, if it is paused. */
function pausedRunIn(body: Answer['body']): string | null {
  const reply = body instanceof JsonText ? (JSON.parse(body.text) as JsonValue) : null
  const shown = isJsonObject(reply) && isJsonObject(reply.result) ? reply.result.structuredContent : null
  const paused = isJsonObject(shown) && shown.status === 'paused' && Array.isArray(shown.pauses)
  return paused && typeof shown.runId === 'string' ? shown.runId : null
}

interface Asking {
  message: JsonObject
  answer: Answer
  runId: string
  signal: AbortSignal
  /** Frees the place among the open streams; further calls do nothing. */
  leave: () => void
}

function withQuestions(ctx: ServiceContext, { message, answer, runId, signal, leave }: Asking): Answer {
  const left = new AbortController()
  const gone = AbortSignal.any([signal, left.signal])
  if (gone.aborted) leave()
  gone.addEventListener('abort', leave, { once: true })
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      const write = (text: string) => controller.enqueue(encoder.encode(`event: message\ndata: ${text}\n\n`))
      const send = () => (question: JsonObject) => write(JSON.stringify(question))
      try {
        const result = await askFor(ctx, runId, gone, send).catch((err: unknown) => ({ ...failed(ctx, err) }))
        if (gone.aborted) return
        const first = answer.body instanceof JsonText ? answer.body.text : ''
        write(result === null ? first : JSON.stringify({ jsonrpc: '2.0', id: message.id ?? null, result }))
        controller.close()
      } catch (err) {
        controller.error(err)
      } finally {
        leave()
      }
    },
    cancel: () => left.abort(),
  })
  return {
    status: 200,
    body,
    headers: { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' },
  }
}

async function answerOne(ctx: ServiceContext, message: JsonObject, request: Request): Promise<Answer> {
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

/** The transport requires a client that also accepts streams, although it answers without one. */
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
