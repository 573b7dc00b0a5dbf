import { appendFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

/**
 * One step. The run's key says which kind: `call-…` calls the loopback server, `slow-…` notes its execution in a file
 * and takes 20 ms, and any other kind does nothing.
 * @param {string} key
 * @param {number} step
 * @param {number} x
 */
export async function work(key, step, x) {
  if (key.startsWith('call-')) await (await fetch(`${process.env.CALL_URL}`)).json()
  if (key.startsWith('slow-')) {
    appendFileSync(`${process.env.SIDE_FILE}`, `${key}:${step}\n`)
    await sleep(20)
  }
  return x + 1
}

/**
 * The HTTP face that all peers share: run, start, pause, resume, status, counts, info. Independent of any engine.
 * @param {Record<string, (...args: any[]) => any>} engine
 */
export function serve(engine) {
  /** @type {Record<string, (arg: string, body: { key: string }) => any>} */
  const routes = {
    run: async (arg, { key }) => ({ result: await engine.run(Number(arg), key) }),
    start: async (arg, { key }) => ({ id: await engine.start(Number(arg), key) }),
    turn: async () => ({ text: await engine.turn() }),
    pause: async (_, { key }) => ({ id: await engine.pause(key) }),
    resume: async (arg) => {
      await engine.resume(arg)
      return {}
    },
    status: async (arg) => ({ status: await engine.status(arg) }),
    counts: () => engine.counts(),
    info: async () => (await engine.info?.()) ?? {},
  }
  createServer(async (req, res) => {
    const [, verb = '', arg = ''] = (req.url ?? '').split('/')
    let code = 200
    let answer
    try {
      answer = await routes[verb](arg, await bodyOf(req))
    } catch (error) {
      code = 500
      answer = { error: String(error) }
    }
    res.writeHead(code, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }).listen(Number(process.env.PORT), '127.0.0.1')
}

/** @param {import('node:http').IncomingMessage} req */
async function bodyOf(req) {
  let text = ''
  for await (const chunk of req) text += chunk
  return text ? JSON.parse(text) : {}
}
