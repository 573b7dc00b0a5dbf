import { database } from '@/server/database'
import { MultipartInput } from '@/server/http/multipart-input'
import { log } from '@/server/log'
import { startRun } from '@/server/runs/start'

// A start in a separate process, for a test to kill.
const [tenantId = '', workflowId = ''] = process.argv.slice(2)
const ctx = {
  tenantId,
  actor: { kind: 'apiKey', id: 'key_test', role: 'owner' },
  db: database().db,
  log: log(),
  now: () => new Date(),
  requestId: 'test',
  trusted: null,
} as const
const file = { name: 'a.txt', type: 'text/plain', bytes: Buffer.from('hello') }
await startRun(ctx, { workflowId, body: new MultipartInput(new Map(), file) })
