import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { answerOfModel } from './model'

/** A server for the steps that call something, and for agents. */
export interface Loopback {
  /** Answers at once. */
  callUrl: string
  /** Takes 20 ms, and records the step that called it. */
  effectUrl: string
  /** A model's address, without the part that names the call. */
  modelUrl: string
  /** One entry per execution of a step. */
  effects: string[]
  stop(): void
}

export async function startLoopback(): Promise<Loopback> {
  const effects: string[] = []
  const server = createServer(async (request, response) => {
    if (request.url?.startsWith('/v1/')) {
      const { type, body } = answerOfModel(await text(request))
      return void response.writeHead(200, { 'content-type': type }).end(body)
    }
    request.resume()
    if (request.url === '/effect') {
      effects.push(String(request.headers['idempotency-key']))
      await sleep(20)
    }
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"n":1}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    callUrl: `${url}/call`,
    effectUrl: `${url}/effect`,
    modelUrl: `${url}/v1`,
    effects,
    stop() {
      server.close()
      server.closeAllConnections()
    },
  }
}
