import type { Sql } from '@/db/index'
import { createAgent } from '@/server/agents/lifecycle'
import type { ServiceContext } from '@/server/context'
import { createTool } from '@/server/tools/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { startOutside } from '../net/outside'
import { startModelServer } from '../support/model'

/** The calls of the turn's three rounds. */
const ROUNDS = [4, 3, 3]
export const CALLS = 10
/** The calls of a turn that are recorded: its tools' and its model's. */
export const RECORDS = CALLS + ROUNDS.length + 1
/** Several calls are under way at a kill. */
const PAYING_MS = 15

interface Paid {
  key: string
  n: number
}

export type TenCalls = Awaited<ReturnType<typeof startTenCalls>>

/**
 * A tool that notes keys and does not know a repeat by them, and a model that makes ten calls in three rounds. Asked
 * again, the model wants other calls.
 */
export async function startTenCalls() {
  const paid: Paid[] = []
  const problems: string[] = []
  /** The keys of calls that have a record. */
  const forbidden = new Set<string>()
  let answers = 0
  const asked = new Map<string, number>()
  const outside = await startOutside(async ({ headers, body }, response) => {
    const key = String(headers['idempotency-key'])
    paid.push({ key, n: JSON.parse(body).n })
    if (forbidden.has(key)) problems.push(`${key} has a record, and was made again`)
    await new Promise((done) => setTimeout(done, PAYING_MS))
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  const model = await startModelServer()
  const serve = (tool: string) =>
    model.answer(({ body }) => {
      const said: { role: string }[] = body.messages
      const turn = /turn-\d+/.exec(JSON.stringify(said))?.[0] ?? ''
      asked.set(turn, (asked.get(turn) ?? 0) + 1)
      const round = said.filter(({ role }) => role === 'assistant').length
      if (round === ROUNDS.length) return { text: `{"paid":${CALLS}}` }
      answers += 1
      const call = (_: unknown, index: number) => ({ name: tool, args: { n: answers * 100 + index }, id: 'call' })
      return { calls: Array.from({ length: ROUNDS[round] ?? 0 }, call) }
    })
  return {
    ...{ paid, problems, serve },
    urls: { tool: `${outside.url}/pay`, model: model.url },
    /** None of these calls may be made from now on, nor after the first `after` that arrived. */
    forbid(recorded: ReadonlyMap<string, number[]>, after: number) {
      const keys = [...recorded].flatMap(([runId, seqs]) => seqs.map((seq) => `${runId}:main:ask:1:${seq}`))
      for (const key of keys) forbidden.add(key)
      for (const { key } of paid.slice(after)) if (forbidden.has(key)) problems.push(`${key} was made again`)
    },
    /** Every call arrived with the arguments of the recorded answer, under one key that no other call had. */
    async check(sql: Sql, runId: string, turn: string) {
      const wanted = await wantedBy(sql, runId)
      const made = paid.filter(({ key }) => key.startsWith(`${runId}:`))
      for (const { key, n } of made)
        if (wanted.get(key) !== n) problems.push(`${key} was made with ${n}, recorded is ${wanted.get(key)}`)
      const keys = new Set(made.map(({ key }) => key))
      if (keys.size !== CALLS) problems.push(`${runId} made ${keys.size} calls`)
      return { repeats: made.length - keys.size, asked: asked.get(turn) ?? 0 }
    },
    async stop() {
      await outside.stop()
      await model.close()
    },
  }
}

/** The arguments that the recorded answers of a run's model ask for, by the keys of the calls. */
async function wantedBy(sql: Sql, runId: string): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ seq: number; calls: { input: { n: number } }[] }[]>`
    select c.seq, c.output->'calls' as calls from agent_turns t
    join agent_calls c on c.tenant_id = t.tenant_id and c.turn_id = t.id
    where t.run_id = ${runId} and c.kind = 'model'`
  const calls = rows.flatMap(({ seq, calls }) =>
    calls.map(({ input }, index): [string, number] => [`${runId}:main:ask:1:${seq + 1 + index}`, input.n]),
  )
  return new Map(calls)
}

/** @returns the id of a workflow whose agent makes the ten calls */
export async function publishTenCalls(ctx: ServiceContext, { serve, urls }: TenCalls): Promise<string> {
  const config = { method: 'POST', url: urls.tool, body: '${args}' }
  const { id: toolId } = await createTool(ctx, { name: 'Pay', kind: 'http', config })
  serve(toolId)
  const { id: agentId } = await createAgent(ctx, {
    name: 'Pays',
    instructions: 'Pay.',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: urls.model },
    tools: [toolId],
    outputSchema: { type: 'object', properties: { paid: { type: 'integer' } }, required: ['paid'] },
  })
  const { id } = await createWorkflow(ctx, {
    name: 'Pays',
    payload: { turn: { type: 'string' } },
    steps: [
      { id: 'ask', type: 'call-agent', agentId, message: 'Pay for ${turn}.' },
      { id: 'end', type: 'end-flow', output: { paid: '${paid}' } },
    ],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await publishWorkflow(ctx, { id })
  return id
}
