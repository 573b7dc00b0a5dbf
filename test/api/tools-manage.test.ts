import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Api, startApi } from '../support/api'

let api: Api
beforeAll(async () => {
  api = await startApi()
})
afterAll(() => api.stop())

const script = (code: string) => ({ kind: 'script', config: { code } })
const create = async (body: object) => (await api.call('POST', '/api/tools', { name: 'T', ...body })).body

describe('tools over HTTP', () => {
  test('a tool can be created, read, changed, published, called and archived', async () => {
    const made = await api.call('POST', '/api/tools', {
      name: 'Double',
      description: 'Twice',
      ...script('return args.n * 2'),
      inputSchema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    })
    expect(made.status).toBe(201)
    const { id } = made.body
    expect(made.headers.get('location')).toBe(`/api/tools/${id}`)
    expect(made.headers.get('etag')).toBe('"1"')
    expect(made.body).toMatchObject({
      name: 'Double',
      kind: 'script',
      status: 'draft',
      version: 1,
      publishedVersion: null,
    })
    expect((await api.call('GET', `/api/tools/${id}`)).body).toEqual(made.body)

    const path = `/api/tools/${id}`
    const invoke = (body: object) => api.call('POST', `${path}/invoke`, body)
    expect((await invoke({ args: { n: 21 } })).body).toEqual({
      success: true,
      data: 42,
      debug: { executionTime: expect.any(Number) },
    })
    expect(await invoke({ args: { n: 'x' } })).toMatchObject({
      status: 400,
      body: {
        success: false,
        error: { message: 'Invalid input', details: [{ path: 'args.n', message: 'must be number' }] },
      },
    })
    expect(await invoke({ args: { n: 1 }, version: 'published' })).toMatchObject({
      status: 404,
      body: { error: { message: 'Tool not found' } },
    })

    const stale = { headers: { 'if-match': '"7"' } }
    expect(await api.call('PUT', path, { name: 'X' }, stale)).toMatchObject({
      status: 409,
      body: { error: { code: 'VERSION_CONFLICT', details: [{ currentVersion: 1 }] } },
    })
    const saved = await api.call('PUT', path, script('return args.n * 3'), { headers: { 'if-match': '"1"' } })
    expect(saved).toMatchObject({ status: 200, body: { version: 2 } })
    expect(saved.headers.get('etag')).toBe('"2"')
    expect(await api.call('POST', `${path}/publish`)).toMatchObject({
      body: { status: 'published', publishedVersion: 2 },
    })
    expect((await invoke({ args: { n: 2 }, version: 1 })).body.data).toBe(4)
    expect((await invoke({ args: { n: 2 }, version: 'published' })).body.data).toBe(6)
    const versions = await api.call('GET', `${path}/versions?limit=1`)
    expect(versions.body).toMatchObject([{ version: 2, published: true }])
    expect(versions.headers.get('x-total-count')).toBe('2')
    expect(versions.headers.get('link')).toContain('offset=1')
    expect((await api.call('GET', `${path}/versions/1`)).body).toMatchObject({ config: { code: 'return args.n * 2' } })

    expect((await api.call('DELETE', path)).body).toMatchObject({ status: 'archived' })
    expect((await invoke({ args: { n: 2 } })).status).toBe(404)
    expect(await api.call('PUT', path, { name: 'X' })).toMatchObject({
      status: 409,
      body: { error: { code: 'TOOL_ARCHIVED' } },
    })
    expect((await api.call('POST', `${path}/unarchive`)).body).toMatchObject({ status: 'draft' })
  })

  test('the list has everything, including the samples, with links to other pages', async () => {
    const { id } = await create(script('return 1'))
    const list = await api.call('GET', '/api/tools')
    expect(list.body.map((tool: { id: string }) => tool.id)).toEqual(expect.arrayContaining([id, 'tool_add']))
    expect(Number(list.headers.get('x-total-count'))).toBe(list.body.length)
    const builtin = await api.call('GET', '/api/tools?kind=builtin')
    expect(builtin.body.map((tool: { id: string }) => tool.id)).toContain('tool_csv')
    expect((await api.call('GET', '/api/tools?limit=0')).status).toBe(400)
  })

  test('built-in tools work but cannot be changed', async () => {
    const path = '/api/tools/tool_csv'
    const args = { operation: 'parse', text: 'a,b\n1,2' }
    expect((await api.call('POST', `${path}/invoke`, { args })).body.data).toEqual([{ a: '1', b: '2' }])
    expect((await api.call('GET', path)).body).toMatchObject({ kind: 'builtin', config: null })
    expect((await api.call('PUT', path, { name: 'X' })).status).toBe(409)
    const now = await api.call('POST', '/api/tools/tool_date/invoke', { args: { operation: 'now' } })
    expect(Math.abs(Date.parse(now.body.data) - Date.now())).toBeLessThan(60_000)
  })

  test('bad bodies get 400, never 500', async () => {
    for (const body of [
      {},
      { name: 'x' },
      { name: 'x', kind: 'script', config: {} },
      { name: 'x', kind: 'http', config: { url: 'ftp://x' } },
      { name: 'x', kind: 'mcp', config: { url: 'https://a.example.com', command: 'sh' } },
      { name: 'x', ...script('1'), inputSchema: { $ref: 'http://169.254.169.254/' } },
      { name: 'x', ...script('1'), inputSchema: { properties: { a: { pattern: '(?=(a+))+$' } } } },
      { name: 'x', ...script('1'), inputSchema: [] },
      [],
      '{"a":',
    ])
      expect((await api.call('POST', '/api/tools', body)).status, JSON.stringify(body)).toBe(400)
  })

  test('a missing tool is 404 with the same bytes; a wrong key gets the same 401 as invoke', async () => {
    for (const id of ['tool_none', '..%2f', '%00', 'x'.repeat(200)]) {
      const { status } = await api.call('GET', `/api/tools/${id}`)
      expect(status, id).toBe(404)
    }
    const denied = await api.call('GET', '/api/tools', undefined, { headers: { 'x-api-key': 'sk_wrongwrong' } })
    expect(denied).toMatchObject({ status: 401, body: { error: { message: 'Invalid or disabled API key' } } })
  })
})

describe('hosts of the private network', () => {
  test('are not called by the built service', async () => {
    const { id } = await create({ kind: 'http', config: { url: '${args.url}' } })
    const { port } = new URL(api.url)
    for (const url of [
      `http://127.0.0.1:${port}/api/health`,
      `http://localhost:${port}/api/health`,
      `http://[::ffff:127.0.0.1]:${port}/api/health`,
      `http://0x7f.1:${port}/api/health`,
      'http://169.254.169.254/latest/meta-data/',
    ]) {
      expect((await api.call('POST', `/api/tools/${id}/invoke`, { args: { url } })).body, url).toMatchObject({
        success: false,
        error: { code: 'BLOCKED_HOST' },
      })
    }
    expect((await api.call('POST', '/api/tools/mcp/list', { url: `${api.url}/mcp` })).body).toMatchObject({
      success: false,
      error: { code: 'BLOCKED_HOST' },
    })
  })
})
