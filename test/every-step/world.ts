import { createAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { createTool, publishTool } from '@/server/tools/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { startOutside } from '../net/outside'
import { type ModelCall, type Reply, startModelServer } from '../support/model'

/**
 * How the outside world handles a call: it answers, refuses for good, or fails the first call and answers the next: it
 * is unavailable, breaks the connection, or holds it open forever.
 */
export type How = 'answers' | 'refuses' | 'flaky' | 'drops' | 'holds'

/** The outside world of the runs: an HTTP server and a model, which follow their instructions and count calls. */
export interface World {
  url: string
  toolId: string
  agentId: string
  /** Calls a tool, and then answers. Calls of its tool and failures of its model are counted. */
  callerId: string
  /** Makes one call, as its START defines. */
  childId: string
  /** The number of calls with this name. */
  calls(name: string): number
  /** Their different idempotency keys. */
  keys(name: string): string[]
  stop(): Promise<void>
}

const AGENT_MS = 4_000
export const SETTINGS = {
  ALLOW_PRIVATE_HOSTS: '127.0.0.1',
  ENCRYPTION_KEY: 'ab'.repeat(32),
  CANCEL_GRACE_MS: '200',
}
/** Where calls do not hold for longer than this. */
export const IMPATIENT = { ...SETTINGS, AGENT_TIMEOUT_MS: String(AGENT_MS) }

export async function startWorld(ctx: ServiceContext): Promise<World> {
  const seen: { name: string; key: string | undefined }[] = []
  const note = (name: string, key?: string) => {
    seen.push({ name, key })
    return seen.filter((call) => call.name === name).length
  }
  const outside = await startOutside(({ url, headers }, response) => {
    const [, how, name = ''] = url.split('/')
    const first = note(name, headers['idempotency-key'] as string | undefined) === 1
    if (first && how === 'holds') return
    if (first && how === 'drops') return void response.destroy()
    const status = how === 'refuses' ? 422 : first && how === 'flaky' ? 503 : 200
    response.writeHead(status, { 'content-type': 'application/json' }).end('{"said":"yes"}')
  })
  const model = await startModelServer()
  model.answer((call) => {
    const [how, name = ''] = messageOf(call).split('/')
    const [tool] = call.body.tools ?? []
    if (!tool || how === 'refuses') return replyTo(how, note(name) === 1)
    const called = call.body.messages.some(({ role }: { role: string }) => role === 'tool')
    if (!called)
      return { calls: [{ name: tool.function.name, args: { how: how === 'flaky' ? 'answers' : how, name } }] }
    // Its tool has been called once; the next attempt continues with the answer.
    const fails = how === 'flaky' && seen.filter((one) => one.name === name).length === 1
    return fails ? replyTo(how, note(name) === 2) : replyTo('answers', false)
  })
  const { url } = outside
  const tool = await createTool(ctx, {
    name: 'Call',
    kind: 'http',
    config: { url: `${url}/\${args.how}/\${args.name}` },
  })
  await publishTool(ctx, { id: tool.id })
  const posting = await createTool(ctx, {
    name: 'Post',
    kind: 'http',
    config: { method: 'POST', url: `${url}/\${args.how}/\${args.name}` },
  })
  const answers = {
    name: 'Answer',
    instructions: 'Answer.',
    outputSchema: { type: 'object', properties: { said: { type: 'string' } }, required: ['said'] },
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: model.url },
  }
  const agent = await createAgent(ctx, answers)
  const caller = await createAgent(ctx, { ...answers, tools: [posting.id] })
  const child = await createWorkflow(ctx, {
    name: 'Child',
    payload: { how: { type: 'string' }, name: { type: 'string' } },
    steps: [
      { id: 'call', type: 'http-request', url: `${url}/\${how}/\${name}`, saveAs: 'got', retry: QUICK },
      { id: 'end', type: 'end-flow', output: { said: '${got.said}' } },
    ],
    edges: [{ from: 'call', to: 'end' }],
  })
  await publishWorkflow(ctx, { id: child.id })
  return {
    url,
    toolId: tool.id,
    agentId: agent.id,
    callerId: caller.id,
    childId: child.id,
    calls: (name) => seen.filter((call) => call.name === name).length,
    keys: (name) => [...new Set(seen.flatMap((call) => (call.name === name && call.key ? [call.key] : [])))],
    async stop() {
      await outside.stop()
      await model.close()
    },
  }
}

export const QUICK = { maxAttempts: 3, initialDelayMs: 20, backoff: 'fixed' }

function messageOf({ body }: ModelCall): string {
  const { content } = body.messages.findLast(({ role }: { role: string }) => role === 'user')
  return typeof content === 'string' ? content : content[0].text
}

function replyTo(how: string | undefined, first: boolean): Reply {
  if (first && how === 'holds') return { hang: true }
  // A wait that its turn has no time for, so that the step is tried again and not only the call.
  if (first && how === 'flaky') return { status: 503, headers: { 'retry-after-ms': String(AGENT_MS) } }
  return how === 'refuses' ? { status: 401 } : { text: '{"said":"yes"}' }
}
