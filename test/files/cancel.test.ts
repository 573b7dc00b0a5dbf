import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelUpload } from '@/server/files/direct/cancel'
import { completeUpload } from '@/server/files/direct/complete'
import { ARRIVING_MS, OPEN_PER_CALLER } from '@/server/files/direct/limits'
import { revokeStartLink } from '@/server/links/start/revoke'
import { beginLinkUpload, cancelLinkUpload } from '@/server/links/start/upload'
import { startRun } from '@/server/runs/start'
import { newMember } from '../members/people'
import { outcome } from '../workflows/support'
import { BYTES, type DirectService, directService } from './direct-service'

let service: DirectService
beforeAll(async () => {
  service = await directService()
})
afterAll(() => service?.stop())

test('a cancelled upload is deleted, complete or not, and gives its place back', async () => {
  const { begin, send, uploaded, rowOf, isStored, database } = service
  const { ctx } = await newMember(database, service.ctx, 'operator')
  const complete = await uploaded(ctx)
  const sent = await begin(ctx)
  await send(sent)
  const others = await Promise.all(Array.from({ length: OPEN_PER_CALLER - 2 }, () => begin(ctx)))
  expect(await outcome(begin(ctx))).toBe('CONFLICT')
  for (const id of [complete, sent.id, others[0]?.id ?? '']) {
    expect(await cancelUpload(ctx, { fileId: id })).toEqual({ id, deleted: true })
    expect(isStored(id)).toBe(false)
    expect((await rowOf(id))?.condemnedAt).toBeInstanceOf(Date)
    expect(await outcome(cancelUpload(ctx, { fileId: id }))).toBe('FILE_NOT_FOUND')
    expect(await outcome(completeUpload(ctx, { fileId: id }))).toBe('FILE_NOT_FOUND')
    expect(await begin(ctx)).toMatchObject({ id: expect.any(String) })
  }
  expect(await outcome(send(sent))).toBe('FILE_NOT_FOUND')
  expect(await outcome(begin(ctx))).toBe('CONFLICT')
})

test('only its uploader cancels an upload, and nobody the file of a run', async () => {
  const { ctx, uploaded, workflow, database, rowOf } = service
  const id = await uploaded()
  const viewer = await newMember(database, ctx, 'viewer')
  expect(await outcome(cancelUpload(viewer.ctx, { fileId: id }))).toBe('FORBIDDEN')
  const tess = await newMember(database, ctx, 'operator')
  const elsewhere = await service.runtime.as('owner', 'ten_elsewhere')
  for (const other of [tess.ctx, elsewhere]) {
    expect(await outcome(cancelUpload(other, { fileId: id }))).toBe('FILE_NOT_FOUND')
  }
  const workflowId = await workflow()
  const [started, cancelled] = await Promise.all([
    outcome(startRun(ctx, { workflowId, body: { paper: id } })),
    outcome(cancelUpload(ctx, { fileId: id })),
  ])
  // One of the two gets it.
  expect(typeof started === 'string').toBe(typeof cancelled !== 'string')
  const kept = await uploaded()
  const { runId } = await startRun(ctx, { workflowId, body: { paper: kept } })
  expect(await outcome(cancelUpload(ctx, { fileId: kept }))).toBe('FILE_NOT_FOUND')
  expect(await rowOf(kept)).toMatchObject({ runId, condemnedAt: null })
})

test('bytes that arrive after an upload is cancelled are deleted', async () => {
  const { ctx, begin, send, rowOf, isStored, sweep } = service
  const begun = await begin()
  const half = BYTES.byteLength / 2
  const arriving = outcome(
    send(begun, async function* () {
      yield BYTES.subarray(0, half)
      await cancelUpload(ctx, { fileId: begun.id })
      yield BYTES.subarray(half)
    }),
  )
  await arriving
  await sweep()
  expect(isStored(begun.id)).toBe(false)
  expect(await rowOf(begun.id)).toMatchObject({ condemnedAt: expect.any(Date) })
  await sweep(ARRIVING_MS + 60_000)
  expect(await rowOf(begun.id)).toBeUndefined()
})

test('the form of a start link cancels its own uploads, even after the link has ended', async () => {
  const { ctx, visitor, body, link, workflow, uploaded } = service
  const workflowId = await workflow()
  const { id: linkId, token } = await link(workflowId)
  const begin = () => beginLinkUpload(visitor(), { token, body })
  const [one, two] = [await begin(), await begin()]
  const cancel = (by: string, fileId: string) => outcome(cancelLinkUpload(visitor(), { token: by, fileId }))
  const other = await link()
  expect(await cancel(other.token, one.id)).toBe('FILE_NOT_FOUND')
  expect(await cancel('a guess', one.id)).toBe('FILE_NOT_FOUND')
  expect(await cancel(token, await uploaded())).toBe('FILE_NOT_FOUND')
  expect(await cancel(token, one.id)).toEqual({ id: one.id, deleted: true })
  await revokeStartLink(ctx, { workflowId, linkId })
  expect(await cancel(token, two.id)).toEqual({ id: two.id, deleted: true })
})
