import { openDatabase } from '@/db/index'
import { receiveDelivery } from '@/server/inbound/receive'
import { log } from '@/server/log'

// Run by processes.test.ts: a process that receives the deliveries that its parent names, all concurrently.
const [url = '', hookId = ''] = process.argv.slice(2)
const { db } = openDatabase(url, { max: 5 })

process.on('disconnect', () => process.exit(0))
process.on('message', async (delivery: string) => {
  const base = { db, log: log(), now: () => new Date(), requestId: delivery }
  const headers = new Headers({ 'content-type': 'application/json', 'x-id': delivery })
  const readBytes = async () => Buffer.from('{}')
  const received = await receiveDelivery(base, { hookId, headers, query: {}, readBytes })
  process.send?.({ delivery, runId: 'runId' in received ? received.runId : null })
})
process.send?.('running')
