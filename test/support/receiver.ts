import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'

const TOLERANCE_S = 300

/** A message as received, whether or not the response accepted it. */
export interface Received {
  id: string
  timestamp: number
  signatures: string[]
  text: string
  body: { type: string; timestamp: string; data: Record<string, never> & { runId: string } }
}

export interface Receiver {
  url: string
  port: number
  /** Every attempt that reached it. */
  attempts: Received[]
  /** The messages it has processed, each once, in order. */
  taken: Received[]
  close(): Promise<void>
}

/**
 * Verifies according to the Standard Webhooks specification, without code of the product.
 * @throws the reason for the refusal
 */
export function verify(message: Received, secret: string, now: Date): void {
  if (Math.abs(now.getTime() / 1000 - message.timestamp) > TOLERANCE_S) throw new Error('too old or too new')
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
  const expected = createHmac('sha256', key).update(`${message.id}.${message.timestamp}.${message.text}`).digest()
  const right = message.signatures.some((signature) => {
    const [version, value = ''] = signature.split(',')
    const given = Buffer.from(value, 'base64')
    return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected)
  })
  if (!right) throw new Error('no signature matches')
}

/**
 * A receiver of webhooks. It processes a message once, however often it arrives, and answers with the status of
 * `answer`; if that is a success, with the text of `says`.
 */
export async function startReceiver(
  answer: (message: Received) => number | Promise<number> = () => 204,
  says: () => string | undefined = () => undefined,
): Promise<Receiver> {
  const attempts: Received[] = []
  const taken: Received[] = []
  const server = createServer(async (request, response) => {
    const message = await read(request)
    attempts.push(message)
    const status = await answer(message)
    const good = status >= 200 && status < 300
    if (good && !taken.some(({ id }) => id === message.id)) taken.push(message)
    response.writeHead(status, { location: '/elsewhere' }).end(good ? says() : 'not now')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    port,
    attempts,
    taken,
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

async function read(request: IncomingMessage): Promise<Received> {
  let text = ''
  for await (const chunk of request.setEncoding('utf8')) text += chunk
  const header = (name: string) => String(request.headers[name] ?? '')
  return {
    id: header('webhook-id'),
    timestamp: Number(header('webhook-timestamp')),
    signatures: header('webhook-signature').split(' '),
    text,
    body: JSON.parse(text),
  }
}
