import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'

let api: Api

beforeAll(async () => {
  api = await startApi()
})
afterAll(async () => {
  await api?.stop()
})

const bytes = randomBytes(10 * 1024 * 1024)

const put = (path: string, headers: Record<string, string>, body: Uint8Array<ArrayBuffer> = new Uint8Array(bytes)) =>
  fetch(`${api.url}${path}`, { method: 'PUT', headers, body })

test('the built service takes 10 MB as they arrive, a run gets the file, and its caller downloads the same bytes', async () => {
  const payload = { paper: { type: 'file' } }
  const steps = [{ id: 'end', type: 'end-flow', name: 'End' }]
  const { body: workflow } = await api.call('POST', '/api/workflows', { name: 'Files', payload, steps })
  const size = bytes.byteLength
  const begun = await api.call('POST', '/api/files', { name: 'large.bin', size })
  expect(begun.status).toBe(201)
  const { id, put: at } = begun.body
  expect(at.url).toBe(`${api.url}/api/files/${id}/content`)
  const path = `/api/files/${id}/content`
  expect((await put(path, { 'x-upload-token': 'nonsense' })).status).toBe(404)
  expect((await put(path, at.headers, new Uint8Array(7))).status).toBe(400)
  const sent = await put(path, at.headers)
  expect([sent.status, await sent.json()]).toEqual([200, { id, size }])
  expect((await put(path, at.headers)).status).toBe(409)
  const early = await api.call('POST', `/api/workflow/start/${workflow.id}`, { paper: id })
  expect(early.status).toBe(400)
  const done = await api.call('POST', `/api/files/${id}/complete`)
  expect([done.status, done.body]).toEqual([200, { id, name: 'large.bin', type: 'application/octet-stream', size }])
  const started = await api.call('POST', `/api/workflow/start/${workflow.id}`, { paper: id })
  expect(started.body.data).toEqual({ paper: id })
  const download = await fetch(`${api.url}/api/files/${id}`, { headers: { 'x-api-key': api.apiKey } })
  expect(download.headers.get('content-length')).toBe(String(size))
  expect(Buffer.from(await download.arrayBuffer()).equals(bytes)).toBe(true)
  expect(api.logs()).not.toContain(at.headers['x-upload-token'])
})

test('more than the setting allows is refused before anything is sent', async () => {
  const refused = await api.call('POST', '/api/files', { name: 'huge.bin', size: 25 * 1024 * 1024 + 1 })
  expect([refused.status, refused.body.error.code]).toEqual([413, 'FILE_TOO_LARGE'])
})
