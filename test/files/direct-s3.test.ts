import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { beginUpload } from '@/server/files/direct/begin'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'
import { outcome } from '../workflows/support'

let database: FreshDatabase
let runtime: TestRuntime
beforeAll(async () => {
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    ...{ FILES_S3_URL: 'https://KEY:SECRET@s3.example.com/bucket', ENCRYPTION_KEY: 'ab'.repeat(32) },
  })
})
afterAll(async () => {
  await runtime?.stop()
  await database?.close()
  delete process.env.FILES_S3_URL
})

test('a service with files in S3 begins no upload, however small, and says why', async () => {
  const begin = beginUpload(runtime.ctx, { body: { name: 'a.txt', size: 5 }, origin: '' })
  await expect(begin).rejects.toMatchObject({
    code: 'CONFLICT',
    message: 'This service accepts files only as part of a form',
  })
  expect(await outcome(beginUpload(runtime.ctx, { body: { name: '', size: 5 }, origin: '' }))).toBe('INVALID_INPUT')
  expect(await runtime.db.select().from(files)).toEqual([])
})
