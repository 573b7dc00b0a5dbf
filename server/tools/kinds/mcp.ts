import { createMCPClient, type MCPClient } from '@ai-sdk/mcp'
import { Deadline } from '@/lib/deadline'
import type { ServiceContext } from '../../context'
import { isJsonObject, type JsonObject, type JsonValue, toStorableJson } from '../../definition/json'
import { OutboundFailure } from '../../net/outbound-failure'
import type { ToolCall } from '../call'
import { type ToolFailure, type ToolOutcome, toolFailure } from '../schema'
import { filledHeader } from './filled-header'
import { withKey } from './headers'
import { isTransientStatus, retryAfterMs } from './http'
import { McpConfig, type McpServerConfig } from './mcp-config'
import { digitsKept } from './mcp-digits'
import { type BoundFetch, callingOut } from './outbound'
import { lookupOf } from './templates'

/** Calls a tool of a remote MCP server with the arguments unchanged. */
export async function runMcpTool(raw: JsonValue, call: ToolCall, ctx: ServiceContext): Promise<ToolOutcome> {
  const config = McpConfig.parse(raw)
  return callingOut(ctx, raw, call.signal, (secrets, fetch) =>
    withClient(config, { secrets, fetch, ...call }, async (client, signal) => {
      const { toolName } = config
      // Only the called tool, which saves fetching the server's list first.
      const tools = client.toolsFromDefinitions({ tools: [{ name: toolName, inputSchema: { type: 'object' } }] })
      const answer = await tools[toolName]?.execute(call.args, {
        toolCallId: call.idempotencyKey ?? '',
        messages: [],
        abortSignal: signal,
      })
      return outcomeOf(config, toStorableJson(answer))
    }),
  )
}

const MAX_TOOLS = 2_000
const MAX_PAGES = 200
const MAX_CHARACTERS = 4 * 1024 * 1024

/** The tools of a server, from all its pages: `{ tools: [{ name, description, inputSchema }] }`. */
export async function listMcpTools(
  config: McpServerConfig,
  ctx: ServiceContext,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  return callingOut(ctx, config, signal, (secrets, fetch) =>
    withClient(config, { secrets, fetch, context: ctx.trusted, signal }, async (client, signal) => {
      const tools = new Map<string, JsonValue>()
      let size = 0
      for await (const page of pagesOf(client, signal)) {
        for (const { name, title, description, inputSchema, outputSchema } of page) {
          const texts = { name, title: title ?? null, description: description ?? '' }
          tools.set(name, toStorableJson({ ...texts, inputSchema, outputSchema: outputSchema ?? null }))
        }
        size += JSON.stringify(page).length
        if (tools.size > MAX_TOOLS || size > MAX_CHARACTERS) throw new TooManyTools()
      }
      return { success: true, data: { tools: [...tools.values()] } }
    }),
  )
}

class TooManyTools extends OutboundFailure {
  constructor() {
    const message = `The server lists more than ${MAX_TOOLS} tools, ${MAX_PAGES} pages or 4 MiB. Create the tool with its name as \`toolName\` instead.`
    super('OUTPUT_INVALID', message)
  }
}

/** Stops if the server repeats a page. */
async function* pagesOf(client: MCPClient, signal: AbortSignal) {
  const asked = new Set<string>()
  for (let cursor: string | undefined; ; ) {
    const { tools, nextCursor } = await client.listTools({
      ...(cursor === undefined ? {} : { params: { cursor } }),
      options: { signal },
    })
    yield tools
    if (!nextCursor || asked.has(nextCursor)) return
    if (asked.size + 1 >= MAX_PAGES) throw new TooManyTools()
    asked.add(nextCursor)
    cursor = nextCursor
  }
}

interface Sources {
  secrets: ReadonlyMap<string, string>
  fetch: BoundFetch
  context: JsonObject | null
  signal: AbortSignal
  /** The key of the tool call. */
  idempotencyKey?: string | null
}

/** Opens a session for one piece of work, all within the configured time, and closes it. */
async function withClient(
  config: McpServerConfig,
  sources: Sources,
  work: (client: MCPClient, signal: AbortSignal) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  const headers = headersOf(config, sources)
  const { timeoutMs } = config
  const tooLate = () => new OutboundFailure('TIMEOUT', `No answer within ${timeoutMs} ms.`)
  const deadline = new Deadline(sources.signal, timeoutMs, tooLate)
  const { signal } = deadline
  const wire = new Wire(sources.fetch, timeoutMs, signal, sources.idempotencyKey ?? null)
  let client: MCPClient | undefined
  try {
    const transport = { type: 'http', url: config.url, headers, redirect: 'follow', fetch: wire.fetch } as const
    client = await createMCPClient({
      transport,
      clientName: 'millrace',
      initializationOptions: { signal },
      onUncaughtError: () => {},
    })
    return await Promise.race([work(client, signal), wire.broken])
  } catch (err) {
    if (signal.aborted) throw signal.reason
    if (err instanceof OutboundFailure) throw err
    return wire.failure ?? protocolFailure(err)
  } finally {
    // Ends the session on the server, without waiting for it.
    client?.close().catch(() => {})
    // Aborts a response stream that the server holds open after its last use.
    deadline.end()
  }
}

function headersOf(config: McpServerConfig, sources: Sources): Record<string, string> {
  const lookup = lookupOf(sources)
  return Object.fromEntries(
    Object.entries(config.headers).map(([name, template]) => [name, filledHeader(name, template, lookup)]),
  )
}

/** The client's `fetch`: guarded, and it records the actual failure, which the client wraps beyond recognition. */
class Wire {
  failure: ToolFailure | null = null
  /** Rejects when a response stream breaks off, because the client would wait forever. */
  readonly broken: Promise<never>
  private break: (reason: unknown) => void = () => {}

  constructor(
    private readonly send: BoundFetch,
    private readonly timeoutMs: number,
    private readonly signal: AbortSignal,
    private readonly idempotencyKey: string | null,
  ) {
    this.broken = new Promise((_resolve, reject) => {
      this.break = reject
    })
    this.broken.catch(() => {})
  }

  readonly fetch = async (target: RequestInfo | URL, init: RequestInit = {}): Promise<Response> => {
    // The stream for messages from the server is optional, and a single call has no use for it.
    if (init.method === 'GET') return new Response(null, { status: 405 })
    const url = target instanceof Request ? target.url : target
    const leaving = init.method === 'DELETE'
    const method = init.method ?? 'GET'
    const body = typeof init.body === 'string' ? init.body : null
    const isCall = callsTool(body)
    const request = {
      method,
      headers: withKey(method, Object.fromEntries(new Headers(init.headers)), isCall ? this.idempotencyKey : null),
      ...(body === null ? {} : { body }),
      // The request that ends the session is sent even after an abort. Everything else ends with the work; the client's
      // own signals add nothing.
      ...(leaving ? {} : { signal: this.signal }),
      redirect: init.redirect === 'error' ? ('error' as const) : ('follow' as const),
    }
    try {
      const response = await this.send(url, request, { timeoutMs: leaving ? 2_000 : this.timeoutMs })
      if (leaving || response.status === 202) {
        // Nobody needs this body; unread, it would hold its connection until the timeout.
        await response.body?.cancel()
        return new Response(null, response)
      }
      if (!response.ok) this.failure = await statusFailure(response.clone())
      if (!response.body) return response
      const type = response.headers.get('content-type') ?? ''
      return new Response(this.watched(isCall ? digitsKept(response.body, type) : response.body), response)
    } catch (err) {
      if (!leaving) this.note(err)
      throw err
    }
  }

  private watched(body: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> {
    const reader = body.getReader()
    return new ReadableStream({
      pull: async (controller) => {
        try {
          const { done, value } = await reader.read()
          if (done) controller.close()
          else controller.enqueue(value)
        } catch (err) {
          this.note(err)
          this.break(err)
          controller.error(err)
        }
      },
      cancel: (reason) => reader.cancel(reason),
    })
  }

  private note(err: unknown): void {
    if (err instanceof OutboundFailure) {
      const { code, message, transient } = err
      this.failure = toolFailure(code, message, [], { transient })
    }
  }
}

/** Whether a message of the client is the call; the others open the session or answer the server. */
function callsTool(message: string | null): boolean {
  const { method } = message === null ? {} : JSON.parse(message)
  return method === 'tools/call'
}

async function statusFailure(response: Response): Promise<ToolFailure> {
  const text = (await response.text().catch(() => '')).trim()
  return toolFailure(
    'HTTP_ERROR',
    `The MCP server answered ${response.status}.`,
    [`status: ${response.status}`, ...(text === '' ? [] : [text])],
    {
      transient: isTransientStatus(response.status),
      retryAfterMs: retryAfterMs(response.headers.get('retry-after')),
    },
  )
}

/** The server answered with an error: an unknown tool, wrong arguments, or something that is not MCP. */
function protocolFailure(err: unknown): ToolFailure {
  return toolFailure('EXECUTION_ERROR', err instanceof Error ? err.message : 'The MCP server could not be used.')
}

function outcomeOf(config: McpConfig, answer: JsonValue): ToolOutcome {
  if (!isJsonObject(answer)) return toolFailure('OUTPUT_INVALID', 'The MCP server returned no result.')
  const content = Array.isArray(answer.content) ? answer.content : []
  const texts = content.flatMap((part) =>
    isJsonObject(part) && part.type === 'text' && typeof part.text === 'string' ? [part.text] : [],
  )
  if (answer.isError === true) {
    const { structuredContent } = answer
    const details = structuredContent === undefined ? [] : [JSON.stringify(structuredContent)]
    return toolFailure('EXECUTION_ERROR', texts.join('\n') || `The tool ${config.toolName} failed.`, details)
  }
  if (config.result === 'full') return { success: true, data: answer }
  if (answer.structuredContent !== undefined) return { success: true, data: answer.structuredContent }
  if (content.length > 0 && texts.length === content.length) return { success: true, data: texts.join('\n') }
  return { success: true, data: content }
}
