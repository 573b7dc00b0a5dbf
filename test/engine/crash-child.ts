import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@/db/index'
import { createNode } from './node'

/*
 * A process of its own for the tests that kill: node --import tsx crash-child.ts <database url> <boot id>.
 * Each step leaves a row; the test says when to kill by looking at them.
 */
const [url = '', bootId = ''] = process.argv.slice(2)
const { sql } = connect(url)

const node = createNode(
  sql,
  (client) => [
    client.createFunction({ id: 'ten', triggers: [{ event: 'k/ten' }] }, async ({ event, step }) => {
      for (let n = 1; n <= 10; n++) {
        await step.run(`s${n}`, async () => {
          await sql`insert into effects (tag, step) values (${String(event.data.tag)}, ${`s${n}`})`
          if (n === 5) await sleep(event.data.pauseMs ?? 0)
        })
      }
      return 'end'
    }),
    client.createFunction({ id: 'deadly', triggers: [{ event: 'k/deadly' }] }, async ({ event, step }) => {
      await step.run('kill', async () => {
        await sql`insert into effects (tag, step) values (${String(event.data.tag)}, 'kill')`
        process.kill(process.pid, 'SIGKILL')
        await sleep(1000)
      })
    }),
  ],
  { bootId },
)
await node.engine.start()
process.on('SIGTERM', () => {
  node.engine.stop({ graceMs: 5000 }).then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
process.stdout.write('ready\n')
