import { expect } from 'vitest'
import type { Recorder } from './recorder'

/** Every answer of chat. A part of test/api/openapi.test.ts. */
export async function recordChat({ post }: Recorder): Promise<void> {
  const agentId = (await post('/api/agents', { name: 'Speaks' })).body.id
  const body = { agentId, message: 'Hello' }
  await post('/api/chat', body, { headers: { accept: 'application/json' } })
  const events = (await post('/api/chat', body)).body as string
  const last = [...events.matchAll(/^id: (.*)$/gm)].at(-1)?.[1] ?? ''
  expect((await post('/api/chat', body, { headers: { 'last-event-id': last } })).status).toBe(204)
  expect((await post('/api/chat', { agentId })).body.error.code).toBe('MESSAGE_REQUIRED')
  expect((await post('/api/chat', { ...body, threadId: 'thr_nobody' })).body.error.code).toBe('THREAD_NOT_FOUND')
}
