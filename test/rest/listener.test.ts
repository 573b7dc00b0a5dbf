import { once } from 'node:events'
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, test } from 'vitest'
import { readText } from '@/server/http/body'
import { respondJson } from '@/server/http/respond'
import { createApiListener } from '@/server/rest/listener/create'
import type { RouteModule } from '@/server/rest/listener/match'
import { matcher } from '@/server/rest/listener/match'

// Two tests make a route fail, which is logged.
process.env.LOG_LEVEL = 'silent'

const opened: Server[] = []
afterEach(() => {
  for (const server of opened.splice(0)) {
    server.closeAllConnections()
    server.close()
  }
})

/** A server with only the API listener. It answers 599 to requests it leaves to others. */
async function serve(routes: Record<string, RouteModule>): Promise<number> {
  const api = createApiListener(routes)
  const server = createServer((request, response) => {
    if (!api(request, response)) response.writeHead(599).end()
  })
  opened.push(server)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return (server.address() as AddressInfo).port
}

function send(port: number, method: string, path: string, body?: string): Promise<IncomingMessage> {
  return new Promise((done, fail) => {
    httpRequest({ host: '127.0.0.1', port, method, path }, done).once('error', fail).end(body)
  })
}

async function textOf(response: IncomingMessage): Promise<string> {
  let text = ''
  for await (const chunk of response) text += chunk
  return text
}

/** Sends raw bytes. @returns the socket and what has come so far */
async function raw(port: number, text: string): Promise<{ socket: Socket; received(): string }> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    received += chunk
  })
  socket.on('error', () => {})
  await once(socket, 'connect')
  socket.write(text)
  return { socket, received: () => received }
}

const answers = (body: unknown) => async () => respondJson(body, 'request-id')
const until = (condition: () => boolean) => expect.poll(condition, { timeout: 60_000, interval: 10 }).toBe(true)

describe('the route of a path', () => {
  const named = (name: string) => ({ GET: answers(name) })
  const routes = {
    '/api/tools': named('list'),
    '/api/tools/[toolId]': named('one'),
    '/api/tools/[toolId]/invoke': named('invoke'),
    '/api/tools/mcp/list': named('mcp'),
    '/api/openapi.json': named('document'),
    '/api/tools/[toolId]/versions/[version]': named('version'),
  }
  const match = matcher(routes)
  const found = (path: string) => {
    const result = match(path)
    const name = Object.entries(routes).find(([, module]) => module === result?.module)?.[0]
    return result && [name, result.params]
  }

  test.each([
    ['/api/tools', '/api/tools', {}],
    ['/api/tools/tool_1', '/api/tools/[toolId]', { toolId: 'tool_1' }],
    ['/api/tools/mcp', '/api/tools/[toolId]', { toolId: 'mcp' }],
    ['/api/tools/mcp/list', '/api/tools/mcp/list', {}],
    ['/api/tools/mcp/invoke', '/api/tools/[toolId]/invoke', { toolId: 'mcp' }],
    ['/api/tools/a.b~c-d/versions/3', '/api/tools/[toolId]/versions/[version]', { toolId: 'a.b~c-d', version: '3' }],
    ['/api/openapi.json', '/api/openapi.json', {}],
  ])('%s is served by %s', (path, folder, params) => {
    expect(found(path)).toEqual([folder, params])
  })

  test.each([
    ...['', '/', '/api', '/api/', '/api/tools/', '/api//tools', '/api/tools/..', '/api/tools/.', '/api/tools/.hidden'],
    ...['/api/tools/a%20b', '/api/%74ools', '/api/tools/a\\b', '/api/tools/a;b', '/api/tools/a/b/c', '/API/tools', '*'],
    ...['http://elsewhere/api/tools', 'api/tools', '/api/tools#x', '/api/tools/é', '/api/tools/__proto__/x'],
  ])('%j is left to Next', (path) => {
    expect(found(path)).toBeNull()
  })
})

test('a route gets the request as it was sent, with the address it came from', async () => {
  const route: RouteModule['PUT'] = async (request, { params }) => {
    const { method, url, headers } = request
    return respondJson({ method, url, headers: [...headers], params: await params, body: request.body }, 'request-id')
  }
  const port = await serve({ '/api/x/[id]': { PUT: route } })
  const head = 'PUT /api/x/abc?a=%20b&a=c HTTP/1.1\r\nHost: example.com\r\nX-Twice: 1\r\nx-twice: 2\r\n'
  const sent = async (more = '') => {
    const { received } = await raw(port, `${head}${more}\r\n`)
    await until(() => received().endsWith('}'))
    return JSON.parse(received().split('\r\n\r\n')[1] ?? '')
  }
  const headers = [
    ['host', 'example.com'],
    ['x-forwarded-for', '127.0.0.1'],
    ['x-twice', '1, 2'],
  ]
  const rest = { method: 'PUT', url: 'http://localhost/api/x/abc?a=%20b&a=c', params: { id: 'abc' }, body: null }
  expect(await sent()).toEqual({ ...rest, headers })
  headers[1] = ['x-forwarded-for', '10.1.2.3']
  expect(await sent('X-Forwarded-For: 10.1.2.3\r\n')).toEqual({ ...rest, headers })
})

describe('an answer', () => {
  test('has every cookie in a header of its own', async () => {
    const headers = new Headers([
      ['set-cookie', 'a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT'],
      ['set-cookie', 'b=2'],
    ])
    const port = await serve({ '/api/x': { GET: async () => new Response('ok', { headers }) } })
    const response = await send(port, 'GET', '/api/x')
    expect(response.headers['set-cookie']).toEqual(['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT', 'b=2'])
    expect(await textOf(response)).toBe('ok')
  })

  test('to HEAD has the headers of GET, no body, and ends the source of a stream', async () => {
    let ended = false
    const stream = () =>
      new ReadableStream({
        cancel() {
          ended = true
        },
      })
    const port = await serve({
      '/api/json': { GET: answers({ some: 'é' }) },
      '/api/stream': { GET: async () => new Response(stream()) },
    })
    const head = await send(port, 'HEAD', '/api/json')
    const get = await send(port, 'GET', '/api/json')
    expect([await textOf(head), await textOf(get)]).toEqual(['', '{"some":"é"}'])
    expect({ ...head.headers, date: '' }).toEqual({ ...get.headers, date: '' })
    expect(await textOf(await send(port, 'HEAD', '/api/stream'))).toBe('')
    expect(ended).toBe(true)
  })

  test('to a method the file does not have is left to Next', async () => {
    const port = await serve({ '/api/x': { GET: answers({}) } })
    expect((await send(port, 'POST', '/api/x')).statusCode).toBe(599)
  })

  test('is the usual 500 when the route throws, and the service keeps running', async () => {
    const port = await serve({
      '/api/broken': { GET: () => Promise.reject(new Error('the secret reason')) },
      '/api/fine': { GET: answers({ fine: true }) },
    })
    const response = await send(port, 'GET', '/api/broken')
    const text = await textOf(response)
    expect(response.statusCode).toBe(500)
    expect(JSON.parse(text)).toEqual({
      success: false,
      error: { message: 'Internal server error', code: 'INTERNAL', details: [] },
      requestId: response.headers['x-request-id'],
    })
    expect(await textOf(await send(port, 'GET', '/api/fine'))).toBe('{"fine":true}')
  })

  test('whose source fails never looks complete', async () => {
    const port = await serve({
      '/api/x': {
        GET: async () => {
          let asked = 0
          return new Response(
            new ReadableStream({
              pull(controller) {
                if (asked++ === 0) controller.enqueue(Buffer.from('half'))
                else controller.error(new Error('gone'))
              },
            }),
          )
        },
      },
    })
    await expect(send(port, 'GET', '/api/x').then(textOf)).rejects.toThrow(/aborted|hang up/)
  })

  test('is not produced faster than the caller reads it', async () => {
    let produced = 0
    let ended = false
    const chunk = new Uint8Array(64 * 1024)
    const MAX = 64 * 1024 * 1024
    const source = () =>
      new ReadableStream({
        pull(controller) {
          produced += chunk.length
          if (produced < MAX) controller.enqueue(chunk)
          else controller.close()
        },
        cancel() {
          ended = true
        },
      })
    const port = await serve({ '/api/x': { GET: async () => new Response(source()) } })
    const response = await send(port, 'GET', '/api/x')
    response.pause()
    // The sockets' buffers differ between systems, so wait until nothing more arrives for a while.
    let before = -1
    let still = 0
    await until(() => {
      still = produced === before && produced > 0 ? still + 1 : 0
      before = produced
      return still === 20
    })
    expect(produced).toBeLessThan(MAX)
    response.destroy()
    await until(() => ended)
  })
})

describe('a caller that hangs up', () => {
  test('fires the signal of its request', async () => {
    let signal: AbortSignal | undefined
    const port = await serve({
      '/api/x': {
        POST: async (request) => {
          signal = request.signal
          await once(signal, 'abort')
          return respondJson({}, 'request-id')
        },
      },
    })
    const { socket } = await raw(port, 'POST /api/x HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => signal !== undefined)
    expect(signal?.aborted).toBe(false)
    socket.destroy()
    await until(() => signal?.aborted === true)
  })

  test('does not fire it once it has the whole answer', async () => {
    let signal: AbortSignal | undefined
    const port = await serve({
      '/api/x': {
        GET: async (request) => {
          signal = request.signal
          return respondJson({}, 'request-id')
        },
      },
    })
    const { socket, received } = await raw(port, 'GET /api/x HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => received().endsWith('{}'))
    socket.destroy()
    await once(socket, 'close')
    await sleep(20)
    expect(signal?.aborted).toBe(false)
  })

  test('ends a stream that has nothing to say', async () => {
    let ended = false
    const silent = () =>
      new ReadableStream({
        start(controller) {
          controller.enqueue(Buffer.from('hello'))
        },
        pull: () => new Promise(() => {}),
        cancel() {
          ended = true
        },
      })
    const port = await serve({ '/api/x': { GET: async () => new Response(silent()) } })
    const { socket, received } = await raw(port, 'GET /api/x HTTP/1.1\r\nhost: x\r\n\r\n')
    await until(() => received().includes('hello'))
    socket.destroy()
    await until(() => ended)
  })

  test('in the middle of its body fails the reading of it', async () => {
    let failed: unknown
    let reading = false
    const port = await serve({
      '/api/x': {
        POST: async (request) => {
          reading = true
          failed = await readText(request, 1000).then(
            () => 'read',
            (err: unknown) => err,
          )
          return respondJson({}, 'request-id')
        },
      },
    })
    const { socket } = await raw(port, 'POST /api/x HTTP/1.1\r\nhost: x\r\ncontent-length: 100\r\n\r\nhalf')
    await until(() => reading)
    expect(failed).toBeUndefined()
    socket.destroy()
    await until(() => failed !== undefined)
    expect(failed).toMatchObject({ code: 'INVALID_INPUT', details: [{ message: 'The body ended early.' }] })
  })
})

describe('a body', () => {
  test('comes as it was sent, with a length or in chunks', async () => {
    const port = await serve({
      '/api/x': { POST: async (request) => respondJson(await readText(request, 10_000_000), 'request-id') },
    })
    const long = 'é'.repeat(1_000_000)
    expect(JSON.parse(await textOf(await send(port, 'POST', '/api/x', long)))).toBe(long)
    expect(await textOf(await send(port, 'POST', '/api/x'))).toBe('""')
    const { received } = await raw(
      port,
      'POST /api/x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n',
    )
    await until(() => received().endsWith('"abcde"'))
  })

  test('is not waited for by a route that does not read it', async () => {
    const port = await serve({ '/api/x': { POST: answers({ refused: true }) } })
    const { received } = await raw(port, 'POST /api/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\nhalf')
    await until(() => received().endsWith('{"refused":true}'))
  })

  test.each([
    ['was not read', 0],
    ['was read in part', 10],
  ])('that %s does not spoil the next request on its connection', async (_, limit) => {
    const port = await serve({
      '/api/x': {
        POST: async (request) => {
          if (limit > 0) await expect(readText(request, limit)).rejects.toThrow()
          return respondJson({ first: true }, 'request-id')
        },
        GET: answers({ second: true }),
      },
    })
    const size = 300_000
    const chunk = `${size.toString(16)}\r\n${'a'.repeat(size)}\r\n`
    const { received } = await raw(
      port,
      `POST /api/x HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n${chunk.repeat(3)}0\r\n\r\nGET /api/x HTTP/1.1\r\nhost: x\r\n\r\n`,
    )
    await until(() => received().endsWith('{"second":true}'))
    expect(received()).toContain('{"first":true}')
  })

  test('is not taken in faster than the route reads it', async () => {
    let read = 0
    const port = await serve({
      '/api/x': {
        POST: async (request) => {
          const reader = request.body?.getReader()
          read += (await reader?.read())?.value?.length ?? 0
          await once(request.signal, 'abort')
          return respondJson({}, 'request-id')
        },
      },
    })
    const { socket } = await raw(port, 'POST /api/x HTTP/1.1\r\nhost: x\r\ncontent-length: 1000000000\r\n\r\n')
    const chunk = Buffer.alloc(1024 * 1024)
    let sent = 0
    // Stops when the system accepts no more.
    for (let full = false; !full; ) {
      if (!socket.write(chunk)) full = !(await Promise.race([once(socket, 'drain').then(() => true), sleep(300)]))
      sent += chunk.length
      if (sent > 200 * 1024 * 1024) break
    }
    await until(() => read > 0)
    expect(sent).toBeLessThan(200 * 1024 * 1024)
    socket.destroy()
  })
})
