import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelUpload } from '@/server/files/direct/cancel'
import { addFile } from '@/server/runs/add-file'
import { startRun } from '@/server/runs/start'
import { startWithFiles } from '@/server/runs/with-files'
import { newMember } from '../members/people'
import { outcome } from '../workflows/support'
import { type DirectService, directService } from './direct-service'

let service: DirectService
beforeAll(async () => {
  service = await directService()
})
afterAll(() => service?.stop())

const ASK = [{ id: 'ask', type: 'collect-inputs', output: { paper: { type: 'file' } } }]

async function waiting(workflowId: string) {
  const { runId } = await startRun(service.ctx, { workflowId, body: {} })
  await service.runtime.wait(runId, ({ status }) => status === 'paused')
  return { runId, pauseId: 'main:ask#1' }
}

test('adding an upload to the run that has it returns its id again, and no other run or person gets it', async () => {
  const { ctx, uploaded, workflow, database } = service
  const workflowId = await workflow({}, ASK)
  const [one, other] = [await waiting(workflowId), await waiting(workflowId)]
  const id = await uploaded()
  const file = { uploaded: id }
  const both = await Promise.all([addFile(ctx, { ...one, file }), addFile(ctx, { ...one, file })])
  for (const added of [...both, await addFile(ctx, { ...one, file })]) expect(added).toEqual({ fileId: id })
  await expect(addFile(ctx, { ...other, file })).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ message: expect.stringContaining('already belongs to a run') }],
  })
  const tess = await newMember(database, ctx, 'operator')
  await expect(addFile(tess.ctx, { ...one, file })).rejects.toMatchObject({
    details: [{ message: expect.stringContaining('did not finish or has expired') }],
  })
})

test('a repeated start says that a run has its upload', async () => {
  const { ctx, uploaded, workflow } = service
  const [workflowId, id, gone] = [await workflow(), await uploaded(), await uploaded()]
  const start = (uploadedAs: string) =>
    startWithFiles(ctx, { workflowId, data: {}, files: [{ part: 'paper', file: { uploaded: uploadedAs } }] })
  const both = await Promise.all([outcome(start(id)), outcome(start(id))])
  expect(both.filter((one) => typeof one === 'object')).toHaveLength(1)
  await expect(start(id)).rejects.toMatchObject({
    code: 'INVALID_INPUT',
    details: [{ path: 'files', message: expect.stringContaining('already belongs to a run') }],
  })
  await cancelUpload(ctx, { fileId: gone })
  await expect(start(gone)).rejects.toMatchObject({
    details: [{ message: expect.stringContaining('did not finish or has expired') }],
  })
})
