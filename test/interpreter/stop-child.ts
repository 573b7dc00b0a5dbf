import type { ServiceContext } from '@/server/context'

/*
 * A separate process that only stops runs: node --import tsx --conditions=react-server stop-child.ts <database url>. It
 * receives ids of runs in tenant `ten_test`, and sends each back once the run is terminated.
 */
process.env.DATABASE_URL = process.argv[2]
process.env.LOG_LEVEL = 'fatal'
const { database } = await import('@/server/database')
const { log } = await import('@/server/log')
const { terminateRun } = await import('@/server/runs/terminate')

const ctx: ServiceContext = {
  tenantId: 'ten_test',
  actor: { kind: 'apiKey', id: 'key_owner', role: 'owner' },
  db: database().db,
  log: log(),
  now: () => new Date(),
  requestId: 'test',
  trusted: null,
}
process.on('message', (runId: string) => {
  terminateRun(ctx, { runId }).then(
    () => process.send?.({ stopped: runId }),
    (error: unknown) => process.send?.({ stopped: runId, error: String(error) }),
  )
})
process.send?.({ ready: true })
