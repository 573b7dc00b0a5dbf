import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const create = async (name: string) => (await api.call('POST', '/api/workflows', { name })).body

describe('GET /api/workflows', () => {
  test('is a plain array of list items, latest change first', async () => {
    const first = await create('Sorted 1')
    await create('Sorted 2')
    await api.call('PUT', `/api/workflows/${first.id}`, { description: 'edited' })
    const { status, body } = await api.call('GET', '/api/workflows?search=sorted')
    expect(status).toBe(200)
    expect(body.map(({ name }: { name: string }) => name)).toEqual(['Sorted 1', 'Sorted 2'])
    expect(Object.keys(body[0])).toEqual(
      expect.arrayContaining(['id', 'name', 'description', 'status', 'createdAt', 'updatedAt']),
    )
    expect(body[0]).not.toHaveProperty('tenantId')
  })

  test('following rel="next" visits every row once', async () => {
    for (const n of [1, 2, 3, 4, 5]) await create(`Page ä&% ${n}`)
    const seen: string[] = []
    let path: string | undefined = `/api/workflows?limit=2&search=${encodeURIComponent('page ä&%')}`
    while (path) {
      const { body, headers } = await api.call('GET', path)
      expect(headers.get('x-total-count')).toBe('5')
      seen.push(...body.map(({ name }: { name: string }) => name))
      path = /^<([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1]
    }
    expect(seen).toEqual([5, 4, 3, 2, 1].map((n) => `Page ä&% ${n}`))
  })

  test.each(['%', '_', '\\'])('a search for %j finds that character and nothing else', async (character) => {
    await create(`Literal ${character} here`)
    const { body } = await api.call('GET', `/api/workflows?search=${encodeURIComponent(`l ${character}`)}`)
    expect(body.map(({ name }: { name: string }) => name)).toEqual([`Literal ${character} here`])
  })

  test('leaves archived ones out unless requested', async () => {
    const { id } = await create('Put away')
    await api.call('DELETE', `/api/workflows/${id}`)
    const found = async (query: string) => (await api.call('GET', `/api/workflows?search=put+away${query}`)).body.length
    expect(await found('')).toBe(0)
    expect(await found('&includeArchived=true')).toBe(1)
    expect(await found('&status=archived')).toBe(1)
    expect(await found('&status=draft&includeArchived=true')).toBe(0)
  })

  test.each([
    'status=deleted',
    'includeArchived=yes',
    'includeArchived=',
    'limit=0',
    'limit=1001',
    'limit=ten',
    'offset=-1',
    'search=%00',
    'search=a%ED%A0%80',
    `search=${'x'.repeat(201)}`,
  ])('?%s is invalid input', async (query) => {
    const { status, body } = await api.call('GET', `/api/workflows?${query}`)
    expect([status, body.error?.code, body.success]).toEqual([400, 'INVALID_INPUT', false])
  })
})

describe('GET /api/workflows/:id/versions', () => {
  test('lists the newest first; each can be read, and restored as a new one', async () => {
    const { id } = await create('First')
    const path = `/api/workflows/${id}`
    await api.call('PUT', path, { name: 'Second' })
    await api.call('POST', `${path}/versions/1/restore`)
    const { body, headers } = await api.call('GET', `${path}/versions`)
    expect(headers.get('x-total-count')).toBe('3')
    expect(body.map(({ version, name, current }: Record<string, unknown>) => [version, name, current])).toEqual([
      [3, 'First', true],
      [2, 'Second', false],
      [1, 'First', false],
    ])
    const second = await api.call('GET', `${path}/versions/2`)
    expect(second).toMatchObject({ status: 200, body: { id, version: 2, name: 'Second', steps: [], payload: {} } })
    const missing = await api.call('GET', `${path}/versions/4`)
    expect([missing.status, missing.body.error.code]).toEqual([404, 'WORKFLOW_NOT_FOUND'])
  })

  test('is paged', async () => {
    const { id } = await create('Paged')
    await api.call('PUT', `/api/workflows/${id}`, { name: 'Paged, edited' })
    const { body, headers } = await api.call('GET', `/api/workflows/${id}/versions?limit=1`)
    expect(body).toHaveLength(1)
    expect(headers.get('link')).toBe(`</api/workflows/${id}/versions?limit=1&offset=1>; rel="next"`)
    expect((await api.call('GET', `/api/workflows/${id}/versions?limit=0`)).status).toBe(400)
  })
})

describe('unsupported methods', () => {
  test.each([
    ['POST', '', 'GET, PUT, DELETE'],
    ['GET', '/permanent', 'DELETE'],
    ['GET', '/clone', 'POST'],
    ['DELETE', '/unarchive', 'POST'],
    ['PUT', '/versions', 'GET'],
    ['GET', '/versions/1/restore', 'POST'],
  ])('%s /api/workflows/:id%s', async (method, suffix, allow) => {
    const { status, body, headers } = await api.call(method, `/api/workflows/wf_hello${suffix}`)
    expect([status, body.error?.code]).toEqual([405, 'METHOD_NOT_ALLOWED'])
    expect(headers.get('allow')).toContain(allow)
  })
})
