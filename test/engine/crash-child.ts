import { setTimeout as sleep } from 'node:timers/promises'
import { connect } from '@/db/index'
import { createNode, listenOn, NEVER_LOOKS } from './node'

/*
 * A separate process for the tests that kill: node --import tsx crash-child.ts <database url> <boot id> [ms]. Each step
 * writes a row, by which the test knows when to kill. A deadly step lives for `ms`.
 */
const [url = '', bootId = '', deadlyMs = '0'] = process.argv.slice(2)
const { sql } = connect(url)

/** Waits until the test lets the step end. */
async function letGo(tag: string): Promise<void> {
  while ((await sql`select 1 from effects where tag = ${`let ${tag} go`}`).length === 0) await sleep(10)
}

const node = createNode(
  sql,
  (client) => [
    client.createFunction({ id: 'ten', triggers: [{ event: 'k/ten' }] }, async ({ event, step }) => {
      for (let n = 1; n <= 10; n++) {
        await step.run(`s${n}`, async () => {
          await sql`insert into effects (tag, step) values (${String(event.data.tag)}, ${`s${n}`})`
          if (n === 5) await letGo(String(event.data.tag))
        })
      }
      return 'end'
    }),
    client.createFunction(
      {
        id: 'deadly',
        triggers: [{ event: 'k/deadly' }],
        onFailure: async ({ error, step }) => {
          await step.run('tell', () => sql`insert into effects (tag, step) values ('deadly', ${error.name})`)
        },
      },
      async ({ step }) => {
        await step.run('kill', async () => {
          await sleep(Number(deadlyMs))
          process.kill(process.pid, 'SIGKILL')
          await sleep(1000)
        })
      },
    ),
    client.createFunction({ id: 'innocent', triggers: [{ event: 'k/innocent' }] }, async ({ event, step }) => {
      await step.run('work', async () => {
        await sql`insert into effects (tag, step) values (${String(event.data.tag)}, 'begin')`
        await sleep(Number(event.data.ms))
      })
    }),
  ],
  { bootId, ...NEVER_LOOKS, listen: (channel, heard) => listenOn(sql, channel, heard, heard) },
)
await node.engine.start()
process.on('SIGTERM', () => {
  node.engine.stop({ graceMs: 60_000 }).then(
    () => process.exit(0),
    () => process.exit(1),
  )
})
process.stdout.write('ready\n')
