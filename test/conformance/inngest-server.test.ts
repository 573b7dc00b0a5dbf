import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Inngest } from 'inngest'
import { serve } from 'inngest/node'
import { afterAll, beforeAll, describe } from 'vitest'
import { conformanceFunctions, createJournal } from './functions'
import { conformanceSuite } from './suite'

/*
 * Needs a dev server of the real engine, such as `inngest dev --no-discovery --no-poll --retry-interval 1 --tick 10`,
 * with its address in INNGEST_BASE_URL.
 */
const baseUrl = process.env.INNGEST_BASE_URL

describe.skipIf(!baseUrl)(
  `a real Inngest server (${baseUrl ?? 'skipped: INNGEST_BASE_URL is not set'})`,
  () => {
    const journal = createJournal()
    const client = new Inngest({ id: 'app', isDev: true, ...(baseUrl ? { baseUrl } : {}) })
    let server: Server
    beforeAll(async () => {
      server = createServer(serve({ client, functions: conformanceFunctions(client, journal) }))
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
      const { port } = server.address() as AddressInfo
      const answer = await fetch(`http://127.0.0.1:${port}/api/inngest`, { method: 'PUT' })
      if (!answer.ok) throw new Error(`The functions could not be registered: ${await answer.text()}`)
    })
    afterAll(() => void server?.close())

    conformanceSuite(() => ({ client, journal, patienceMs: 60_000, quietMs: 3_000 }))
  },
  120_000,
)
