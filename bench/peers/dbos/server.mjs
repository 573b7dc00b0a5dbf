// DBOS Transact with its defaults, but a pool of 20. A start is `startWorkflow` without a queue, a pause is
// `DBOS.recv`, and a resume is `DBOS.send`.
import { DBOS } from '@dbos-inc/dbos-sdk'
import { freshDatabase, open, urlOf } from '../postgres.mjs'
import { serve, work } from '../serve.mjs'

const database = 'bench_dbos'
await freshDatabase(database)
const waiting = new Set()

const chain = DBOS.registerWorkflow(
  async (n, key) => {
    let x = 0
    for (let i = 0; i < n; i++) x = await DBOS.runStep(() => work(key, i, x), { name: `s${i}` })
    return x
  },
  { name: 'chain' },
)
const human = DBOS.registerWorkflow(
  async (key) => {
    const a = await DBOS.runStep(() => work(key, 0, 0), { name: 'before' })
    waiting.add(DBOS.workflowID)
    const answer = await DBOS.recv('go', 86_400 * 365)
    waiting.delete(DBOS.workflowID)
    return DBOS.runStep(() => work(key, 1, a + answer.x), { name: 'after' })
  },
  { name: 'human' },
)

DBOS.setConfig({
  name: 'bench',
  systemDatabaseUrl: urlOf(database),
  systemDatabasePoolSize: 20,
  logLevel: 'error',
})
await DBOS.launch()
const sql = open(database)

serve({
  run: (n, key) => chain(n, key),
  start: async (n, key) => (await DBOS.startWorkflow(chain)(n, key)).workflowID,
  pause: async (key) => (await DBOS.startWorkflow(human)(key)).workflowID,
  resume: (id) => DBOS.send(id, { x: 1 }, 'go'),
  async status(id) {
    const found = await DBOS.getWorkflowStatus(id)
    return found?.status === 'SUCCESS' ? 'completed' : waiting.has(id) ? 'paused' : 'running'
  },
  async counts() {
    const [row] = await sql`
      select count(*)::int as completed from dbos.workflow_status where name = 'chain' and status = 'SUCCESS'`
    return { completed: row?.completed, paused: waiting.size }
  },
})
