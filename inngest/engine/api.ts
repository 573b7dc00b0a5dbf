import { z } from 'zod'
import { parseClaimRef } from './call'
import { keepResults } from './checkpoint'
import { endRun } from './finish'
import { seededId } from './ids'
import { ingest } from './ingest'
import type { StepResult } from './protocol'
import {
  Checkpoint,
  type EngineEvent,
  LARGEST_EVENT,
  LARGEST_OUTPUT,
  MAX_EVENTS,
  MAX_STEPS,
  SentEvent,
  Signal,
} from './protocol'
import { deliverSignal } from './waits'
import type { Worker } from './worker'

/** The endpoints that the SDK calls, as a `fetch` that never leaves the process. */
export function createFetch(worker: Worker): typeof globalThis.fetch {
  return async (input, init) => {
    const url = new URL(input instanceof Request ? input.url : input)
    const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase()
    const text = typeof init?.body === 'string' ? init.body : input instanceof Request ? await input.text() : ''
    const [, first, second, third, fourth] = url.pathname.split('/')
    try {
      if (method === 'POST' && first === 'e' && second) {
        const headers = new Headers(init?.headers ?? (input instanceof Request ? input.headers : undefined))
        return await handleEvents(worker, text, headers.get('x-inngest-event-id-seed'))
      }
      if (method === 'POST' && first === 'v1' && second === 'checkpoint' && third && fourth === 'async') {
        return await handleCheckpoint(worker, third, text)
      }
      if (method === 'POST' && first === 'v1' && second === 'signals' && !third) return await handleSignal(worker, text)
      if (method === 'DELETE' && first === 'v1' && second === 'runs' && third) return await handleCancel(worker, third)
      return answer(404, { error: 'Not found', status: 404 })
    } catch (error) {
      if (error instanceof z.ZodError || error instanceof SyntaxError) {
        const message = error instanceof z.ZodError ? z.prettifyError(error) : 'The body is not JSON'
        return answer(400, { error: message, status: 400 })
      }
      worker.ctx.log.warn({ error, path: `${first}/${second}` }, 'a request from the SDK failed')
      return answer(500, { error: 'The engine could not do this just now', status: 500 })
    }
  }
}

function answer(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body), { status, headers: { 'content-type': 'application/json' } })
}

const EventList = z.union([z.array(SentEvent).max(MAX_EVENTS), SentEvent.transform((event) => [event])])

async function handleEvents({ ctx }: Worker, text: string, seed: string | null): Promise<Response> {
  const sent = EventList.parse(JSON.parse(text))
  const at = ctx.now().getTime()
  const from = seed ?? `${at},${Math.random()}`
  const events = sent.map((event, index): EngineEvent => {
    const { id, data, ts, ...rest } = event
    return { ...rest, id: id ? id : seededId(from, index, at), data: data ?? {}, ts: ts ? ts : at }
  })
  const tooLarge = text.length > LARGEST_EVENT && events.find((event) => JSON.stringify(event).length > LARGEST_EVENT)
  if (tooLarge) return answer(413, { error: `The event ${tooLarge.name} is larger than 3 MB`, status: 413 })
  for (const event of events) await ingest(ctx, event)
  return answer(200, { ids: events.map(({ id }) => id), status: 200 })
}

async function handleCheckpoint(worker: Worker, runId: string, text: string): Promise<Response> {
  const { qi_id, steps } = Checkpoint.parse(JSON.parse(text))
  const ref = parseClaimRef(qi_id)
  if (!ref) return answer(409, { error: 'Not a claim of this engine', status: 409 })
  const results: StepResult[] = []
  for (const { id, op, data } of steps) {
    if (op !== 'StepRun') return answer(400, { error: `${op} cannot be checkpointed`, status: 400 })
    results.push({ id, value: JSON.stringify({ data: data ?? null }) })
  }
  // The SDK sends a rejected result again in its response, which then fails the run with a reason.
  const tooLarge = results.some(({ value }) => value.length > LARGEST_OUTPUT)
  if (tooLarge || !worker.calls.mayKeep(ref.generation, results.length, MAX_STEPS)) {
    return answer(413, { error: 'The result is too large, or there are too many', status: 413 })
  }
  const stopping = worker.stopping
  if (!(await keepResults(worker.ctx, { ...ref, runId }, results, stopping))) {
    return answer(409, { error: 'The claim is stale or the run has ended', status: 409 })
  }
  worker.calls.kept(ref.generation, results)
  if (stopping) {
    worker.wake()
    return answer(409, { error: 'The result is stored; another process continues', status: 409 })
  }
  // No body: the SDK reads none, and each one would create a stream.
  return new Response(null, { status: 200 })
}

async function handleSignal({ ctx }: Worker, text: string): Promise<Response> {
  const { signal, data } = Signal.parse(JSON.parse(text))
  const runId = await deliverSignal(ctx, signal, data)
  if (runId === undefined) return answer(404, { error: 'No run is waiting for this signal', status: 404 })
  return answer(200, { data: { run_id: runId }, metadata: { fetched_at: ctx.now().toISOString(), cached_until: null } })
}

async function handleCancel({ ctx }: Worker, runId: string): Promise<Response> {
  if (!/^[0-9A-HJKMNP-TV-Z]{26}$/.test(runId)) return answer(400, { error: 'Not the id of a run', status: 400 })
  const [run] = await ctx.sql`select 1 from engine.runs where id = ${runId}`
  if (!run) return answer(404, { error: 'No such run', status: 404 })
  await endRun(ctx, { runId, status: 'cancelled', output: 'null', steps: [] })
  return new Response(null, { status: 204 })
}
