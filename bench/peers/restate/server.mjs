// The Restate server with its defaults (telemetry off) and its own store in `./data`, and its TypeScript SDK. Runs are
// started at Restate's own ingress, without a hop through this file. A pause is a workflow promise.
import { execFileSync, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import * as restate from '@restatedev/restate-sdk'
import { serve, work } from '../serve.mjs'

const INGRESS = 'http://127.0.0.1:8080'
const ADMIN = 'http://127.0.0.1:9070'
const HANDLERS = 9480

const waiting = new Set()
const steps =
  (n) =>
  async (ctx, { key }) => {
    let x = 0
    for (let i = 0; i < n; i++) x = await ctx.run(`s${i}`, () => work(key, i, x))
    return { result: x }
  }
const chain = restate.service({ name: 'chain', handlers: { go5: steps(5), go100: steps(100), go1000: steps(1000) } })
const human = restate.workflow({
  name: 'human',
  handlers: {
    run: async (ctx) => {
      const a = await ctx.run('before', () => work(ctx.key, 0, 0))
      waiting.add(ctx.key)
      const answer = await ctx.promise('go')
      waiting.delete(ctx.key)
      return ctx.run('after', () => work(ctx.key, 1, a + answer.x))
    },
    resume: async (ctx, answer) => {
      await ctx.promise('go').resolve(answer)
    },
  },
})
await restate.serve({ services: [chain, human], port: HANDLERS })

if (process.env.KEEP_DB !== '1') rmSync('data', { recursive: true, force: true })
const platform = `${process.platform}-${process.arch}`
const binary = new URL(`node_modules/@restatedev/restate-server-${platform}/bin/restate-server`, import.meta.url)
const child = spawn(binary.pathname, ['--no-logo', '--node-name', 'bench'], {
  stdio: 'ignore',
  env: {
    ...process.env,
    RESTATE_BASE_DIR: 'data',
    RESTATE_LISTEN_MODE: 'tcp',
    RESTATE_BIND_IP: '127.0.0.1',
    RESTATE_DISABLE_TELEMETRY: 'true',
    DO_NOT_TRACK: '1',
    RUST_LOG: 'warn',
  },
})
child.once('exit', () => process.exit(1))
for (const signal of ['SIGTERM', 'SIGINT']) {
  process.on(signal, () => {
    child.kill('SIGTERM')
    process.exit(0)
  })
}

async function ask(method, url, body) {
  const response = await fetch(url, {
    method,
    body: body && JSON.stringify(body),
    headers: { 'content-type': 'application/json', accept: 'application/json' },
  })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return response.json().catch(() => ({}))
}
for (let tries = 0; ; tries++) {
  try {
    await ask('POST', `${ADMIN}/deployments`, { uri: `http://127.0.0.1:${HANDLERS}`, force: true })
    break
  } catch (error) {
    if (tries > 300) throw error
    await sleep(100)
  }
}

serve({
  async pause(key) {
    await ask('POST', `${INGRESS}/human/${key}/run/send`)
    return key
  },
  resume: (key) => ask('POST', `${INGRESS}/human/${key}/resume`, { x: 1 }),
  async status(key) {
    const response = await fetch(`${INGRESS}/restate/workflow/human/${key}/output`)
    return response.status === 200 ? 'completed' : waiting.has(key) ? 'paused' : 'running'
  },
  async counts() {
    const query = `select count(*) as n from sys_invocation where target_service_name = 'chain' and status = 'completed'`
    const { rows } = await ask('POST', `${ADMIN}/query`, { query })
    return { completed: Number(rows[0].n), paused: waiting.size }
  },
  info: () => ({
    pids: [child.pid],
    storedBytes: Number(execFileSync('du', ['-sb', 'data']).toString().split('\t')[0]),
    urls: { run: `${INGRESS}/chain/go{arg}`, start: `${INGRESS}/chain/go{arg}/send` },
  }),
})
