import { expect } from 'vitest'
import { type Outside, startOutside } from '../net/outside'
import { startModelServer } from '../support/model'
import { type Preview, seen, startPreview } from '../support/platform/preview'

/** The calls of the model in the turn; each but the last asks for one of a tool. */
const CALLS = 10

interface Scale {
  /** The time that one call of the model takes. */
  callMs: number
  /** The longest time of a step. */
  stepMs: number
  settings: Record<string, string>
}

interface Part {
  part?: string
  startTime: string
  endTime: string
}

/**
 * A turn on a serverless platform that takes longer than the platform lets a step: it continues in parts, each shorter
 * than a step may be, and makes each call once.
 * @returns the milliseconds that the turn took, and its parts
 */
export async function takeLongTurn({ callMs, stepMs, settings }: Scale, after: (undo: () => unknown) => void) {
  const outside = await startOutside((_seen, response) => {
    response.setHeader('content-type', 'application/json').end('{"ok":true}')
  })
  after(() => outside.stop())
  const model = await startModelServer()
  after(() => model.close())
  const preview = await startPreview({ ALLOW_PRIVATE_HOSTS: '127.0.0.1', ...settings })
  after(() => preview.close())
  const workflowId = await publish(preview, outside, model.url)
  model.answer(({ body }) => {
    const round = body.messages.filter(({ role }: { role: string }) => role === 'assistant').length
    const call = { name: body.tools?.[0]?.function.name as string, args: { n: round } }
    return { delayMs: callMs, ...(round === CALLS - 1 ? { text: '{"paid":true}' } : { calls: [call] }) }
  })
  const { body } = await preview.call('POST', `/api/workflow/start-async/${workflowId}`, {})
  const ended = async () => (await runOf(preview, body.runId))?.status !== 'running'
  expect(await seen(ended, 3 * CALLS * callMs + 60_000), preview.logs()).toBe(true)

  const run = await runOf(preview, body.runId)
  expect(run?.status, preview.logs()).toBe('completed')
  const keys = Array.from({ length: CALLS - 1 }, (_, n) => `${body.runId}:main:ask:1:${2 * n + 2}`)
  expect(outside.seen.map(({ headers }) => headers['idempotency-key'])).toEqual(keys)
  expect(model.calls).toHaveLength(CALLS)
  const ms = run?.ended - run?.started
  expect(ms).toBeGreaterThan(CALLS * callMs)
  const parts: Part[] = run?.attempts
  // The last one has its row because the others have one.
  expect(parts.map(({ part }) => part)).toEqual([...parts.slice(1).map(() => 'time'), undefined])
  for (const { startTime, endTime } of parts) expect(Date.parse(endTime) - Date.parse(startTime)).toBeLessThan(stepMs)
  return { ms, parts: parts.length }
}

async function publish({ call }: Preview, outside: Outside, modelUrl: string): Promise<string> {
  const made = async (path: string, body: object) => {
    const answer = await call('POST', path, body)
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300)
    return answer.body.id as string
  }
  const config = { method: 'POST', url: `${outside.url}/pay`, body: '${args}' }
  const toolId = await made('/api/tools', { name: 'Pay', kind: 'http', config })
  const agentId = await made('/api/agents', {
    name: 'Pays',
    instructions: 'Pay.',
    model: { provider: 'openai-compatible', modelId: 'm', baseUrl: modelUrl },
    tools: [{ toolId, version: 'latest' }],
    outputSchema: { type: 'object', properties: { paid: { type: 'boolean' } }, required: ['paid'] },
  })
  const ask = { id: 'ask', type: 'call-agent', agentId, message: 'Pay.', timeoutMs: 1_200_000 }
  const id = await made('/api/workflows', {
    name: 'Pays',
    steps: [ask, { id: 'end', type: 'end-flow' }],
    edges: [{ from: 'ask', to: 'end' }],
  })
  await call('POST', `/api/workflows/${id}/publish`, {})
  return id
}

/** Read from outside the deployment, so that reading does not wake it. */
async function runOf({ database }: Preview, runId: string) {
  const [run] = await database.sql`
    select r.status, s.attempts, s.start_time as started, s.end_time as ended from runs r
    left join step_records s on s.tenant_id = r.tenant_id and s.run_id = r.id and s.step_id = 'ask' where r.id = ${runId}`
  return run
}
