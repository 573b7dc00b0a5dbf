import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eq } from 'drizzle-orm'
import { files } from '@/db/schema/files'
import type { ServiceContext } from '@/server/context'
import { beginUpload } from '@/server/files/direct/begin'
import { completeUpload } from '@/server/files/direct/complete'
import { receiveUpload } from '@/server/files/direct/receive'
import { sweepFiles } from '@/server/files/sweep'
import { createStartLink } from '@/server/links/start/create'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { newMember } from '../members/people'
import { freshDatabase } from '../support/db'
import { startTestRuntime } from '../support/runtime'

const PAYLOAD = { paper: { type: 'file', required: false } }
const STEPS = [{ id: 'end', type: 'end-flow' }]

export type Chunks = () => AsyncIterable<Uint8Array>
export const BYTES = Buffer.from('the bytes of an upload')

/** A service whose files are in a folder, with a workflow that takes one. */
export async function directService(settings: Record<string, string> = {}) {
  const dataDir = mkdtempSync(join(tmpdir(), 'millrace-uploads-'))
  const database = await freshDatabase({ max: 20 })
  const runtime = await startTestRuntime(database.url, {
    ...{ DATA_DIR: dataDir, ENCRYPTION_KEY: 'ab'.repeat(32), RATE_LIMIT_REQUESTS: '0', RATE_LIMIT_STARTS: '0' },
    ...{ RATE_LIMIT_FAILURES: '100000', ...settings },
  })
  const { ctx, db } = runtime
  const folder = join(dataDir, 'files', ctx.tenantId)

  const workflow = async (payload: object = PAYLOAD, steps: object[] = STEPS): Promise<string> => {
    const { id } = await createWorkflow(ctx, { name: 'Files', payload, steps } as never)
    await publishWorkflow(ctx, { id })
    return id
  }
  const visitor = (headers: Record<string, string> = {}, inMs = 0) => ({
    ...{ db, log: ctx.log, requestId: 'x', now: () => new Date(Date.now() + inMs) },
    headers: new Headers({ 'x-forwarded-for': '203.0.113.9', ...headers }),
  })
  const body = { name: 'a.txt', type: 'text/plain', size: BYTES.byteLength }
  const begin = (by = ctx) => beginUpload(by, { body, origin: '' })
  const send = (
    { id, put }: Awaited<ReturnType<typeof begin>>,
    chunks: Chunks = async function* () {
      yield BYTES
    },
  ) => receiveUpload(visitor(put?.headers), { fileId: id, chunks })

  return {
    ...{ database, runtime, ctx, folder, workflow, visitor, body, begin, send },
    async uploaded(by: ServiceContext = ctx): Promise<string> {
      const begun = await begin(by)
      await send(begun)
      await completeUpload(by, { fileId: begun.id })
      return begun.id
    },
    /** The token of a new start link. */
    async link(workflowId?: string): Promise<{ id: string; token: string }> {
      const maker = await newMember(database, ctx, 'operator')
      const made = { workflowId: workflowId ?? (await workflow()), body: {}, origin: '' }
      const { id, url } = await createStartLink(maker.ctx, made)
      return { id, token: url.slice(url.indexOf('#') + 1) }
    },
    rowOf: async (id: string) => (await db.select().from(files).where(eq(files.id, id)))[0],
    isStored: (id: string) => existsSync(join(folder, id)) || existsSync(join(folder, `${id}.part`)),
    sweep: (inMs = 0) => sweepFiles({ db, log: ctx.log, now: () => new Date(Date.now() + inMs) }),
    async stop() {
      await runtime.stop()
      await database.close()
      rmSync(dataDir, { recursive: true, force: true })
    },
  }
}

export type DirectService = Awaited<ReturnType<typeof directService>>
