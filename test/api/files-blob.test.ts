import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { files } from '@/db/schema/files'
import { type Call, fakeBlobStore, TOKEN } from '../files/blob-store'
import { type Api, startApi } from '../support/api'

let api: Api
let store: Server
const blobs = new Map<string, Buffer>()
const calls: Call[] = []

beforeAll(async () => {
  store = fakeBlobStore(blobs, calls)
  await new Promise<void>((resolve) => store.listen(0, '127.0.0.1', resolve))
  const { port } = store.address() as AddressInfo
  api = await startApi({ BLOB_READ_WRITE_TOKEN: TOKEN, VERCEL_BLOB_API_URL: `http://127.0.0.1:${port}` })
})

afterAll(async () => {
  await api?.stop()
  store?.closeAllConnections()
  await new Promise((resolve) => store?.close(resolve))
})

// Reads use the store's own host, which a process cannot redirect; test/files/storage.test.ts covers them.
async function upload(id: string): Promise<Response> {
  const form = new FormData()
  form.append('attachment', new File(['hello'], 'a.txt'))
  return fetch(`${api.url}/api/workflow/start/${id}`, {
    method: 'POST',
    headers: { 'x-api-key': api.apiKey },
    body: form,
  })
}

test('with a token, the built service stores files as private blobs, and a refusal by the store leaves no run', async () => {
  const steps = [{ id: 'end', type: 'end-flow', name: 'End' }]
  const { body } = await api.call('POST', '/api/workflows', { name: 'Files', initialStep: 'end', steps })
  const started = await upload(body.id)
  expect(started.status).toBe(200)
  const { fileId } = (await started.json()).data
  expect([...blobs]).toEqual([[`files/${api.tenantId}/${fileId}`, Buffer.from('hello')]])
  expect(calls[0]?.headers['x-vercel-blob-access']).toBe('private')

  store.removeAllListeners('request')
  store.on('request', (_, response) => response.writeHead(403).end('{"error":{"code":"store_suspended"}}'))
  const refused = await upload(body.id)
  expect(refused.status).toBe(503)
  expect(JSON.stringify(await refused.json())).not.toContain(TOKEN)
  expect((await api.call('GET', '/api/workflow/runs')).body.runs).toHaveLength(1)
  const rows = await api.database.db.select().from(files)
  expect(rows.filter(({ claimedAt }) => claimedAt !== null).map(({ id }) => id)).toEqual([fileId])
  expect(api.logs()).not.toContain(TOKEN)
})
