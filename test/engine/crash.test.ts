import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { createNode } from './node'
import { ended, runsOf, until } from './support'

const CHILD = fileURLToPath(new URL('./crash-child.ts', import.meta.url))

describe('processes that die', () => {
  const children = new Set<ChildProcess>()
  let database: FreshDatabase
  beforeAll(async () => {
    database = await freshDatabase()
    await database.sql`create table effects (at bigserial, tag text, step text)`
  })
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    await database?.close()
  })

  async function begin(deadlyMs = 0): Promise<ChildProcess> {
    const child = spawn(process.execPath, ['--import', 'tsx', CHILD, database.url, randomUUID(), String(deadlyMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    children.add(child)
    const ended = once(child, 'exit').then(() => children.delete(child))
    await Promise.race([once(child.stdout ?? child, 'data'), ended])
    return child
  }

  async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
  }

  async function send(name: string, data: object): Promise<void> {
    const sender = createNode(database.sql, (client) => [
      client.createFunction({ id: 'ten', triggers: [{ event: 'k/ten' }] }, async () => undefined),
      client.createFunction({ id: 'deadly', triggers: [{ event: 'k/deadly' }] }, async () => undefined),
      client.createFunction({ id: 'innocent', triggers: [{ event: 'k/innocent' }] }, async () => undefined),
    ])
    await sender.client.send({ name, data })
  }

  const effects = async (tag: string): Promise<string[]> =>
    (await database.sql<{ step: string }[]>`select step from effects where tag = ${tag} order by at`).map((r) => r.step)
  const letGo = (tag: string) => database.sql`insert into effects (tag, step) values (${`let ${tag} go`}, '')`
  const steps = Array.from({ length: 10 }, (_, n) => `s${n + 1}`)

  test('after SIGKILL in step five a new process continues at once: steps one to four are not repeated', async () => {
    const first = await begin()
    await send('k/ten', { tag: 'sigkill' })
    await until(async () => (await effects('sigkill')).includes('s5'))
    await end(first, 'SIGKILL')
    await letGo('sigkill')
    const second = await begin()
    await until(async () => (await runsOf(database.sql, 'ten'))[0]?.status === 'completed')
    expect(await effects('sigkill')).toEqual(['s1', 's2', 's3', 's4', 's5', ...steps.slice(4)])
    await end(second, 'SIGTERM')
  })

  test('after SIGTERM in step five the step finishes and nothing is repeated', async () => {
    const first = await begin()
    await send('k/ten', { tag: 'sigterm' })
    await until(async () => (await effects('sigterm')).includes('s5'))
    const over = end(first, 'SIGTERM')
    await letGo('sigterm')
    await over
    expect(first.exitCode).toBe(0)
    const second = await begin()
    await until(async () => (await runsOf(database.sql, 'ten'))[1]?.status === 'completed')
    expect(await effects('sigterm')).toEqual(steps)
    await end(second, 'SIGKILL')
  })

  test('a job that kills its process fails after five deliveries; the jobs that run beside it all complete', async () => {
    const innocents = ['a', 'b', 'c']
    const first = await begin(300)
    for (const tag of innocents) await send('k/innocent', { tag, ms: 1200 })
    await until(async () => (await Promise.all(innocents.map(effects))).every(({ length }) => length === 1))
    await send('k/deadly', {})
    await until(() => first.signalCode === 'SIGKILL')
    let deaths = 1
    let survivor: ChildProcess | undefined
    while (!survivor) {
      // In its second life it first lets the others start again; then it kills as soon as it can.
      const child = await begin(deaths === 1 ? 300 : 0)
      if (deaths === 2) await send('k/innocent', { tag: 'fresh', ms: 0 })
      await until(async () => {
        const [failed] = await runsOf(database.sql, 'deadly').catch(() => [])
        return child.signalCode === 'SIGKILL' || failed?.status === 'failed'
      })
      if (child.signalCode === 'SIGKILL') deaths++
      else survivor = child
    }
    expect(deaths).toBe(5)
    expect(await runsOf(database.sql, 'deadly')).toMatchObject([{ status: 'failed', output: { name: 'WorkerLost' } }])
    await until(async () => (await effects('deadly')).length > 0)
    expect(await effects('deadly')).toEqual(['WorkerLost'])
    const runs = await ended(database.sql, 'innocent', 4)
    expect(runs.map(({ status }) => status)).toEqual(Array(4).fill('completed'))
    // Twice beside the killer, and once without it.
    for (const tag of innocents) expect((await effects(tag)).length).toBeLessThanOrEqual(3)
    expect((await effects('fresh')).length).toBeLessThanOrEqual(2)
    await end(survivor, 'SIGTERM')
  })
}, 600_000)
