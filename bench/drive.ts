import { Agent, request } from 'node:http'

export interface Target {
  url: string
  apiKey: string
  agent: Agent
}

export function openTarget(url: string, apiKey: string, connections: number): Target {
  return { url, apiKey, agent: new Agent({ keepAlive: true, maxSockets: connections }) }
}

/** One call over a kept-alive connection. `ms` is how long the caller waited. */
export function call(
  target: Target,
  method: string,
  path: string,
  body?: unknown,
): Promise<{ status: number; body: unknown; ms: number }> {
  const started = performance.now()
  const text = body === undefined ? undefined : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      new URL(path, target.url),
      {
        method,
        agent: target.agent,
        headers: {
          'x-api-key': target.apiKey,
          ...(text === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
        },
      },
      (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('error', reject)
        response.on('end', () => {
          const answer: unknown = JSON.parse(Buffer.concat(chunks).toString() || 'null')
          resolve({ status: response.statusCode ?? 0, body: answer, ms: performance.now() - started })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(text)
  })
}

/** A closed loop: keeps `callers` calls in flight until the time is up. Returns each call's latency in milliseconds. */
export async function loop(
  callers: number,
  seconds: number,
  once: () => Promise<number>,
): Promise<{ ms: number[]; seconds: number }> {
  const started = performance.now()
  const until = started + seconds * 1000
  const ms: number[] = []
  const caller = async () => {
    while (performance.now() < until) ms.push(await once())
  }
  await Promise.all(Array.from({ length: callers }, caller))
  return { ms: ms.sort((a, b) => a - b), seconds: (performance.now() - started) / 1000 }
}

export function percentile(sorted: number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}
