import { startEmbeddedPostgres } from '@/db/embedded'
import { openDatabase } from '@/db/index'

// embedded.test.ts runs this as a separate process, to kill it or to run it as another user.
const [dataDir = '', mode] = process.argv.slice(2)
const options = { dataDir, log: () => {} }

async function main(): Promise<void> {
  setInterval(() => {}, 1_000) // the server does not keep its parent's event loop alive
  const server = await startEmbeddedPostgres(options)
  if (mode === 'stay') {
    process.stdout.write('started\n')
    return
  }
  const { sql, close } = openDatabase(server.url, { max: 2 })
  await sql`create table child as select 1 as x`
  await close()
  const again = await startEmbeddedPostgres(options)
  await again.stop()
  await server.exited
  process.stdout.write(
    `${server.adopted ? 'adopted' : 'started'} ${again.adopted ? 'adopted' : 'started'} stopped\n`,
    () => process.exit(0),
  )
}

main().catch((error: Error) => {
  process.stderr.write(`${error.message}\n`)
  process.exit(1)
})
