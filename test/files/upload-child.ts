import { openDatabase } from '@/db/index'
import { keyring } from '@/server/crypto'
import { env } from '@/server/env'
import { joinInstallation } from '@/server/host/installation'
import { MultipartInput } from '@/server/http/multipart-input'
import { log } from '@/server/log'
import { startRun } from '@/server/runs/start'
import { readFile } from './read'

// A process whose runs are on an Inngest server, for `shared.test.ts`: it starts as the service does, and then follows
// commands.
const [tenantId = '', workflowId = ''] = process.argv.slice(2)
type Order = { upload: true } | { read: string }

async function main(): Promise<void> {
  const { db, sql } = openDatabase(env().DATABASE_URL ?? '', { max: 3 })
  await joinInstallation(sql, env(), keyring())
  const actor = { kind: 'apiKey', id: 'key_test', role: 'owner' } as const
  const ctx = { tenantId, actor, db, log: log(), now: () => new Date(), requestId: 'test', trusted: null }
  const carryOut = async (order: Order) => {
    if ('read' in order) return (await readFile(ctx, { fileId: order.read })).bytes.toString()
    const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('hello') }
    return startRun(ctx, { workflowId, body: new MultipartInput(new Map(), file) })
  }
  process.on('message', (order: Order) => {
    carryOut(order).then(
      (done) => process.send?.({ done }),
      (err: Error & { code?: string }) => process.send?.({ refused: err.code ?? err.message }),
    )
  })
  process.on('disconnect', () => process.exit(0))
  process.send?.('started')
}

main().catch((err: Error) => {
  process.stderr.write(`${err.message}\n`)
  process.exit(1)
})
