import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/** Shared by all subjects, so that none has a better client than another. */
const agent = new Agent({ keepAlive: true, maxSockets: 4_096 })

/** Closes the kept-alive connections, which would hold the process open. */
export function hangUp(): void {
  agent.destroy()
}

export interface Answer {
  status: number
  // biome-ignore lint/suspicious/noExplicitAny: the answers of four products
  body: any
  /** How long the caller waited. */
  ms: number
}

/** One call over a kept-alive connection. */
export function call(
  method: string,
  url: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const started = performance.now()
  const text = body === undefined ? undefined : JSON.stringify(body)
  const sent =
    text === undefined
      ? headers
      : { ...headers, 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(text)) }
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent, headers: sent }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const status = response.statusCode ?? 0
        const ms = performance.now() - started
        try {
          resolve({ status, body: JSON.parse(Buffer.concat(chunks).toString() || 'null'), ms })
        } catch (error) {
          reject(error)
        }
      })
    })
    // The server may close an idle connection just as it is used again. Any client then takes a new one.
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      outgoing.reusedSocket && error.code === 'ECONNRESET' ? resolve(call(method, url, body, headers)) : reject(error),
    )
    outgoing.end(text)
  })
}

/** A call that must succeed. */
export async function must(...args: Parameters<typeof call>): Promise<Answer> {
  const answer = await call(...args)
  if (answer.status >= 300)
    throw new Error(`${args[0]} ${args[1]} answered ${answer.status}: ${JSON.stringify(answer.body)}`)
  return answer
}

export interface Loop {
  /** Sorted. */
  ms: number[]
  seconds: number
  errors: number
}

/** Keeps `callers` calls in flight until the time is up. Throws if none succeeds. */
export async function loop(callers: number, seconds: number, once: () => Promise<number>): Promise<Loop> {
  const started = performance.now()
  const until = started + seconds * 1000
  const ms: number[] = []
  const failures: unknown[] = []
  const caller = async () => {
    while (performance.now() < until) await once().then((took) => ms.push(took), note)
  }
  const note = (error: unknown) => {
    if (failures.push(error) === 1) process.stderr.write(`${error}\n`)
  }
  await Promise.all(Array.from({ length: callers }, caller))
  if (ms.length === 0 && failures.length > 0) throw failures[0]
  const took = (performance.now() - started) / 1000
  return { ms: ms.sort((a, b) => a - b), seconds: took, errors: failures.length }
}

const WARM_CALLERS = 16
const WARM_S = 5

/**
 * Before a measurement, alike for all subjects: a service runs compiled code most of its life.
 * @returns how many calls it made
 */
export async function warmUp(once: () => Promise<unknown>): Promise<number> {
  const { ms } = await loop(WARM_CALLERS, WARM_S, async () => {
    await once()
    return 0
  })
  return ms.length
}

/** Makes `count` calls from this many concurrent callers. */
export async function repeat(count: number, callers: number, once: () => Promise<unknown>): Promise<void> {
  let left = count
  const caller = async () => {
    while (left-- > 0) await once()
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

/** Polls until the answer is yes. Throws after the time limit. */
export async function until(
  what: string,
  yes: () => Promise<boolean> | boolean,
  { every = 20, limit = 300_000 }: { every?: number; limit?: number } = {},
): Promise<void> {
  for (const end = performance.now() + limit; !(await yes()); await sleep(every))
    if (performance.now() > end) throw new Error(`${what}: not after ${limit / 1000} s`)
}
