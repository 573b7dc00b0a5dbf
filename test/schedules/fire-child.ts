import { setTimeout as sleep } from 'node:timers/promises'
import { openDatabase } from '@/db/index'
import { log } from '@/server/log'
import { fireDue } from '@/server/schedules/fire'

// Run by processes.test.ts: a process that sweeps all the time, on a clock that runs fast.
const [url = '', from = '', realFrom = '', speed = '1'] = process.argv.slice(2)
const now = () => new Date(Number(from) + (Date.now() - Number(realFrom)) * Number(speed))

async function main(): Promise<void> {
  const { db } = openDatabase(url, { max: 3 })
  process.on('disconnect', () => process.exit(0))
  process.send?.('running')
  for (;;) {
    await fireDue({ db, log: log(), now })
    await sleep(10)
  }
}

void main()
