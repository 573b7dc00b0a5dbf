import { expect } from 'vitest'
import type { Recorder } from './recorder'

// Parts of test/api/openapi.test.ts.

/** Every answer of schedules of a new workflow. */
export async function recordSchedules({ get, post, call }: Recorder, workflow: string): Promise<void> {
  const body = { name: 'Daily', cron: '0 9 * * *', timeZone: 'Europe/Berlin' }
  const path = `${workflow}/schedules`
  const { id } = (await post(path, body)).body
  await get(path)
  await get(`${path}/${id}`)
  await call('PUT', `${path}/${id}`, { enabled: false })
  expect((await get(`${path}/sch_nobody`)).body.error.code).toBe('NOT_FOUND')
  expect((await call('PUT', `${path}/sch_nobody`, {})).body.error.code).toBe('NOT_FOUND')
  expect((await call('DELETE', `${path}/sch_nobody`)).body.error.code).toBe('NOT_FOUND')
  await call('DELETE', `${path}/${id}`)
  for (let i = 1; i <= 50; i++) await post(path, body)
  expect((await post(path, body)).body.error.code).toBe('CONFLICT')
  await call('DELETE', workflow)
  expect((await post(path, body)).body.error.code).toBe('WORKFLOW_ARCHIVED')
}

/** Every answer of events. */
export async function recordEvents({ post }: Recorder): Promise<void> {
  const event = { name: 'payment.settled', key: 'order-1', data: { amount: 1 }, id: 'pay_1' }
  expect((await post('/api/events', event)).body).toEqual({ success: true, eventId: 'pay_1' })
  expect((await post('/api/events', { ...event, data: {} })).body.error.code).toBe('CONFLICT')
  expect((await post('/api/events', { ...event, data: [] })).body.error.code).toBe('INVALID_INPUT')
}

/** Every answer of webhooks. */
export async function recordWebhooks({ get, post, call }: Recorder): Promise<void> {
  const webhook = { url: 'https://hooks.example.com', description: 'Orders', events: ['run.completed'] }
  const { id, secret } = (await post('/api/webhooks', webhook)).body
  expect(secret).toMatch(/^whsec_/)
  const path = `/api/webhooks/${id}`
  await get('/api/webhooks')
  await get(path)
  await call('PUT', path, { enabled: false })
  await post(`${path}/rotate`, { graceHours: 1 })
  const deliveryId = (await post(`${path}/test`)).body.id
  await get(`${path}/deliveries?status=pending&limit=1`)
  await get(`${path}/deliveries/${deliveryId}`)
  await post(`${path}/deliveries/${deliveryId}/redeliver`)
  for (let i = 1; i <= 20; i++) await post('/api/webhooks', webhook)
  expect((await post('/api/webhooks', webhook)).body.error.code).toBe('CONFLICT')
  await call('DELETE', path)
}
