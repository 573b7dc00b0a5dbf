import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@/db/index'

// Run by restart.test.ts: nonstop transactions while the server restarts. A separate process, because an uncatchable
// exception, which is what the test looks for, would end the test runner.
const [url = '', workers = '6'] = process.argv.slice(2)
const HUNG_MS = 40_000

let uncaught = 0
let hung = 0
let committed = 0
let failed = 0
let stopping = false
let stop = () => {}
const stopped = new Promise<void>((done) => {
  stop = () => {
    stopping = true
    done()
  }
})
process.on('uncaughtException', () => {
  uncaught += 1
})
process.on('unhandledRejection', () => {
  uncaught += 1
})

const database = openDatabase(url, { max: 4, deadlineMs: 20_000 })

async function work(): Promise<void> {
  while (!stopping) {
    const timer = setTimeout(() => {
      hung += 1
    }, HUNG_MS)
    try {
      await database.sql.begin(async (tx) => {
        await tx`insert into restarts default values`
        await tx`select count(*) from restarts`
        await tx`select pg_sleep(0.001)`
      })
      committed += 1
    } catch {
      failed += 1
      await sleep(5)
    }
    clearTimeout(timer)
  }
}

async function main(): Promise<void> {
  await database.sql`create table restarts (id bigint generated always as identity)`
  const all = Array.from({ length: Number(workers) }, work)
  process.on('message', (message) => {
    if (message === 'stop') stop()
    process.send?.({ uncaught, hung, committed, failed })
  })
  process.send?.('running')
  await stopped
  await Promise.race([Promise.all(all), sleep(HUNG_MS + 5_000)])
  process.send?.({ uncaught, hung, committed, failed, done: true })
  process.exit(0)
}

void main()
