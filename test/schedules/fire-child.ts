import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@/db/index'
import { log } from '@/server/log'
import { fireDue } from '@/server/schedules/fire'

// Run by processes.test.ts: a process that sweeps all the time, on the clock of the test.
const [url = ''] = process.argv.slice(2)

async function main(): Promise<void> {
  const { db, sql } = openDatabase(url, { max: 3 })
  process.on('disconnect', () => process.exit(0))
  process.send?.('running')
  for (;;) {
    const [clock] = await sql<{ at: Date }[]>`select at from clock`
    const now = () => clock?.at ?? new Date(0)
    await fireDue({ db, log: log(), now })
    await sleep(10)
  }
}

void main()
