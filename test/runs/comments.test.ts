import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ServiceContext } from '@/server/context'
import { addComment, deleteComment } from '@/server/runs/comment'
import { deleteSubjectData } from '@/server/subjects/delete'
import { listComments } from '@/server/views/runs/comments'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { newVisitor } from '../trpc/support'

let database: FreshDatabase
let runtime: TestRuntime
let tess: ServiceContext
let bob: ServiceContext

beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url)
  tess = await person()
  bob = await person()
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
})

async function person(): Promise<ServiceContext> {
  const { userId } = await newVisitor(runtime.ctx, 'operator')
  return { ...runtime.ctx, actor: { kind: 'user', id: userId, name: 'x', sessionId: 's', role: 'operator' } }
}
const textsOf = async (runId: string) => (await listComments(tess, { runId })).map(({ text }) => text)

test('comments are kept in order, and only their author or an admin deletes one', async () => {
  const runId = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
  await runtime.wait(runId)
  const { id } = await addComment(tess, { runId, text: ' first\nline ' })
  await addComment(bob, { runId, text: 'second' })
  expect(await textsOf(runId)).toEqual(['first\nline', 'second'])
  await expect(deleteComment(bob, { runId, id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
  expect((await listComments(tess, { runId })).map(({ mayDelete }) => mayDelete)).toEqual([true, false])
  await deleteComment(tess, { runId, id })
  const [left] = await listComments(runtime.ctx, { runId })
  expect(left).toMatchObject({ text: 'second', own: false, mayDelete: true })
  await deleteComment(runtime.ctx, { runId, id: left?.id ?? '' })
  expect(await textsOf(runId)).toEqual([])
})

test('a run takes no more than 200, however many people write at once', async () => {
  const runId = await runtime.start({ steps: [{ id: 'end', type: 'end-flow' }] })
  await runtime.wait(runId)
  await database.sql`insert into run_comments (tenant_id, id, run_id, author, text, created_at)
    select ${runtime.ctx.tenantId}, 'cmt_' || n, ${runId}, 'usr_1', 'x', now() from generate_series(1, 198) n`
  const more = await Promise.allSettled([1, 2, 3, 4].map(() => addComment(tess, { runId, text: 'y' })))
  expect(more.filter(({ status }) => status === 'fulfilled')).toHaveLength(2)
  expect(await textsOf(runId)).toHaveLength(200)
  for (const text of ['', ' ', 'x'.repeat(5_001), 'a\u0000b'])
    await expect(addComment(tess, { runId, text })).rejects.toMatchObject({ code: 'INVALID_INPUT' })
})

test('a subject’s data includes the comments on its runs', async () => {
  const actor = { kind: 'jwt', id: 'ada|7', secretId: 'sec_1', role: 'operator' } as const
  const { createWorkflow } = await import('@/server/workflows/lifecycle')
  const { startRun } = await import('@/server/runs/start')
  const { id: workflowId } = await createWorkflow(runtime.ctx, { name: 'W', steps: [{ id: 'end', type: 'end-flow' }] })
  const { runId } = await startRun({ ...runtime.ctx, actor }, { workflowId, body: {} })
  await runtime.wait(runId)
  await addComment(tess, { runId, text: 'About Ada' })
  await deleteSubjectData(runtime.ctx, { sub: 'ada|7' })
  expect(await database.sql`select id from run_comments where run_id = ${runId}`).toHaveLength(0)
})
