import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The model's next reply. */
export type Reply =
  /** Streamed word by word, or in pieces of this many characters. `breaks`: the connection is lost after the last; `stalls`: nothing follows it. Waits for `until`. */
  | {
      text: string
      delayMs?: number
      pieces?: number
      promptTokens?: number
      breaks?: true
      stalls?: true
      until?: Promise<unknown>
    }
  | { calls: { name: string; args: unknown; id?: string }[] }
  /** A message as the provider words it, and why it ended. */
  | { message: object; finish?: string }
  | { status: number; headers?: Record<string, string>; body?: string }
  | { hang: true }

export interface ModelCall {
  path: string
  authorization: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: a test says what it expects of a request
  body: any
  /** Whether the caller aborted the call. */
  aborted: boolean
}

/** An OpenAI-compatible service over real HTTP that replies as a test configures it. */
export interface ModelServer {
  /** The `baseUrl` of an agent's model. */
  url: string
  /** The calls received, in order. */
  calls: ModelCall[]
  /** Replies in sequence. After the last one it fails, so that a missing reply is noticed. */
  script(...replies: Reply[]): void
  /** Computes each reply from the call. */
  answer(reply: (call: ModelCall, index: number) => Reply | Promise<Reply>): void
  close(): Promise<void>
}

function usageOf(reply: Said) {
  const prompt = ('promptTokens' in reply && reply.promptTokens) || 10
  return { prompt_tokens: prompt, completion_tokens: 5, total_tokens: prompt + 5 }
}

export async function startModelServer(): Promise<ModelServer> {
  const calls: ModelCall[] = []
  let decide: (call: ModelCall, index: number) => Reply | Promise<Reply> = () => ({ status: 500, body: 'no script' })
  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const call: ModelCall = {
      path: request.url ?? '',
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(chunks).toString('utf8')),
      aborted: false,
    }
    response.on('close', () => {
      call.aborted = !response.writableFinished
    })
    calls.push(call)
    const reply = await decide(call, calls.length - 1)
    if ('hang' in reply) return
    if ('status' in reply) {
      response.writeHead(reply.status, { 'content-type': 'application/json', ...reply.headers })
      response.end(reply.body ?? '{"error":{"message":"no"}}')
      return
    }
    if ('delayMs' in reply && reply.delayMs) await sleep(reply.delayMs)
    if ('until' in reply) await reply.until
    if (call.body.stream) sendStream(response, reply)
    else sendWhole(response, reply)
  }

  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`,
    calls,
    script(...replies) {
      const queue = [...replies]
      calls.length = 0
      decide = () => queue.shift() ?? { status: 500, body: 'the script is over' }
    },
    answer(reply) {
      calls.length = 0
      decide = reply
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

type Said = Extract<Reply, { text: string } | { calls: unknown[] } | { message: object }>

function toolCalls(reply: Said) {
  if ('message' in reply) return (reply.message as { tool_calls?: object[] }).tool_calls
  if (!('calls' in reply)) return undefined
  return reply.calls.map(({ name, args, id }, index) => ({
    index,
    id: id ?? `call_${index}`,
    type: 'function',
    function: { name, arguments: typeof args === 'string' ? args : JSON.stringify(args) },
  }))
}

function finishOf(reply: Said): string {
  return ('message' in reply && reply.finish) || (toolCalls(reply) ? 'tool_calls' : 'stop')
}

function sendWhole(response: ServerResponse, reply: Said): void {
  const calls = toolCalls(reply)
  const own = 'message' in reply ? reply.message : { content: 'text' in reply ? reply.text : null, tool_calls: calls }
  const choice = { index: 0, message: { role: 'assistant', ...own }, finish_reason: finishOf(reply) }
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(
    JSON.stringify({
      id: 'r',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [choice],
      usage: usageOf(reply),
    }),
  )
}

function sendStream(response: ServerResponse, reply: Said): void {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  const send = (delta: object, finish: string | null = null, usage: object | null = null) => {
    const choices = usage ? [] : [{ index: 0, delta, finish_reason: finish }]
    const chunk = { id: 'r', object: 'chat.completion.chunk', created: 1, model: 'm', choices, usage }
    response.write(`data: ${JSON.stringify(chunk)}\n\n`)
  }
  const calls = toolCalls(reply)
  if ('message' in reply) {
    const indexed = calls?.map((call, index) => ({ index, ...call }))
    send({ role: 'assistant', ...reply.message, ...(indexed ? { tool_calls: indexed } : {}) })
  } else if (calls) send({ role: 'assistant', content: null, tool_calls: calls })
  else if ('text' in reply) for (const piece of split(reply)) send({ content: piece })
  if ('stalls' in reply && reply.stalls) return
  if ('breaks' in reply && reply.breaks) {
    // The pieces before it arrive.
    setTimeout(() => response.destroy(), 100)
    return
  }
  send({}, finishOf(reply))
  send({}, null, usageOf(reply))
  response.end('data: [DONE]\n\n')
}

function split({ text, pieces }: { text: string; pieces?: number }): string[] {
  return text.match(pieces ? new RegExp(`[^]{1,${pieces}}`, 'g') : /\S+\s*/g) ?? []
}
