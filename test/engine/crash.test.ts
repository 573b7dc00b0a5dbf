import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { createNode } from './node'
import { runsOf, until } from './support'

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
    await database?.drop()
  })

  async function begin(): Promise<ChildProcess> {
    const child = spawn(process.execPath, ['--import', 'tsx', CHILD, database.url, randomUUID()], {
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
    ])
    await sender.client.send({ name, data })
  }

  const effects = async (tag: string): Promise<string[]> =>
    (await database.sql<{ step: string }[]>`select step from effects where tag = ${tag} order by at`).map((r) => r.step)
  const steps = Array.from({ length: 10 }, (_, n) => `s${n + 1}`)

  test('after SIGKILL in step five a new process goes on at once: one to four are not repeated', async () => {
    const first = await begin()
    await send('k/ten', { tag: 'sigkill', pauseMs: 600 })
    await until(async () => (await effects('sigkill')).includes('s5'))
    await end(first, 'SIGKILL')
    const second = await begin()
    const from = Date.now()
    await until(async () => (await runsOf(database.sql, 'ten'))[0]?.status === 'completed')
    expect(await effects('sigkill')).toEqual(['s1', 's2', 's3', 's4', 's5', ...steps.slice(4)])
    // Its lease would have lasted 15 seconds.
    expect(Date.now() - from).toBeLessThan(5000)
    await end(second, 'SIGTERM')
  })

  test('after SIGTERM in step five the step ends and nothing at all is repeated', async () => {
    const first = await begin()
    await send('k/ten', { tag: 'sigterm', pauseMs: 500 })
    await until(async () => (await effects('sigterm')).includes('s5'))
    await end(first, 'SIGTERM')
    expect(first.exitCode).toBe(0)
    const second = await begin()
    await until(async () => (await runsOf(database.sql, 'ten'))[1]?.status === 'completed')
    expect(await effects('sigterm')).toEqual(steps)
    await end(second, 'SIGKILL')
  })

  test('a step that kills its process is given five lives, then its run fails', async () => {
    await send('k/deadly', { tag: 'deadly' })
    for (let life = 1; life <= 2; life++) {
      const child = await begin()
      await until(() => child.signalCode === 'SIGKILL')
      expect(await database.sql`select deliveries from engine.jobs`).toEqual([{ deliveries: life }])
    }
    // The lives in between are like these two.
    await database.sql`update engine.jobs set deliveries = 4`
    const fifth = await begin()
    await until(() => fifth.signalCode === 'SIGKILL')
    const last = await begin()
    const [run] = await until(async () => {
      const runs = await runsOf(database.sql, 'deadly')
      return runs[0]?.status === 'failed' && runs
    })
    expect(run?.output).toMatchObject({ message: expect.stringContaining('worker lost') })
    expect(await effects('deadly')).toHaveLength(3)
    await end(last, 'SIGTERM')
  })
})
