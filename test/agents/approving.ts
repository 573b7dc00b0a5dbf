import { afterAll, beforeAll, beforeEach } from 'vitest'
import { resumeRun } from '@/server/runs/resume'
import { createTool } from '@/server/tools/lifecycle'
import { type Outside, startOutside } from '../net/outside'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type ModelServer, startModelServer } from '../support/model'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newAgent } from './support'

export const answer = { text: '{"item":"chairs","amount":12}' }

/** A runtime with a model over HTTP, and a tool that refunds, whose calls need decisions. Call once per test file. */
export class Approving {
  runtime!: TestRuntime
  model!: ModelServer
  outside!: Outside
  /** The id of the tool. */
  refund = ''
  /** Whether the tool does not answer. */
  holds = false
  /** Before the tool answers. */
  answering: () => Promise<void> = async () => {}
  database!: FreshDatabase

  constructor() {
    beforeAll(() => this.open())
    beforeEach(() => {
      this.outside.seen.length = 0
    })
    afterAll(() => this.close())
  }

  private async open(): Promise<void> {
    this.database = await freshDatabase()
    this.outside = await startOutside(async (_seen, response) => {
      await this.answering()
      if (!this.holds) response.setHeader('content-type', 'application/json').end('{"ok":true}')
    })
    this.model = await startModelServer()
    this.runtime = await startTestRuntime(this.database.url, { ALLOW_PRIVATE_HOSTS: '127.0.0.1' })
    const { id } = await createTool(this.runtime.ctx, {
      name: 'Refund',
      kind: 'http',
      config: { method: 'POST', url: `${this.outside.url}/refund`, body: '${args}' },
      inputSchema: {
        type: 'object',
        properties: { amount: { type: 'number', maximum: 500, title: 'Amount' }, orderId: { type: 'string' } },
        required: ['amount', 'orderId'],
        additionalProperties: false,
      },
    })
    this.refund = id
  }

  private async close(): Promise<void> {
    await this.runtime?.stop()
    await this.outside?.stop()
    await this.model?.close()
    await this.database?.close()
  }

  /** A call that the model asks for. */
  wish(amount: number, orderId = 'A1') {
    return { name: this.refund, args: { amount, orderId, approval_reason: 'The chair is **broken**.' } }
  }

  /** Starts a run whose agent has the tool with this policy. */
  async start(approval: unknown, step: object = {}): Promise<string> {
    const tools = [{ toolId: this.refund, version: 'latest', approval }]
    const { id: agentId } = await newAgent(this.runtime.ctx, { tools }, this.model)
    return this.runtime.start({
      steps: [
        { id: 'ask', type: 'call-agent', agentId, message: 'x', ...step },
        { id: 'end', type: 'end-flow' },
      ],
      edges: [{ from: 'ask', to: 'end' }],
    })
  }

  paused(runId: string) {
    return this.runtime.wait(runId, ({ status }) => status === 'paused', 10_000)
  }

  give(runId: string, actionId: string, more: object = {}) {
    return resumeRun(this.runtime.ctx, { runId, body: { type: 'request_user_action', actionId, ...more } })
  }

  /** The arguments of the calls that were made. */
  paid() {
    return this.outside.seen.map(({ body }) => JSON.parse(body))
  }

  /** The results of calls in the last request of the model. */
  toolMessages(): string[] {
    const messages: { role: string; content: string }[] = this.model.calls.at(-1)?.body.messages ?? []
    return messages.flatMap((one) => (one.role === 'tool' ? [one.content] : []))
  }
}
