import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { AllowedHosts } from '@/lib/ip'
import type { ServiceContext } from '@/server/context'
import { guardedFetch } from '@/server/net/guarded-fetch'
import { httpRequest } from '@/server/steps/http-request'
import { stopSandbox } from '@/server/tools/sandbox/run-script'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { newTenant } from '../support/tenant'
import { make } from '../tools/support'
import { type Outside, startOutside } from './outside'

vi.hoisted(() => {
  process.env.ENCRYPTION_KEY = 'ab'.repeat(32)
  process.env.ALLOW_PRIVATE_HOSTS = '127.0.0.1'
})

if (httpRequest.mode !== 'effect') throw new Error('http-request must do work')
const { run, config } = httpRequest

let database: FreshDatabase
let ctx: ServiceContext
let outside: Outside
let respond: (response: ServerResponse) => void = () => {}
beforeAll(async () => {
  database = await freshDatabase()
  ctx = await newTenant(database)
  outside = await startOutside((_seen, response) => respond(response))
})
afterAll(async () => {
  await Promise.all([stopSandbox(), outside.stop(), database.close()])
})

const say = (type: string, bytes: readonly number[] | Buffer) => {
  respond = (response) => void response.writeHead(200, { 'content-type': type }).end(Buffer.from(bytes))
}
const signal = new AbortController().signal
const allowed = AllowedHosts.of(['127.0.0.1'])
const text = async () => (await guardedFetch(outside.url, { signal }, { allowed })).text()
const ascii = (chars: string) => [...Buffer.from(chars, 'latin1')]
const utf16 = (chars: string) => Buffer.from(chars, 'utf16le')

describe('the text of a response', () => {
  test.each([
    ['text/csv; charset=ISO-8859-1', ascii('name\nMüller'), 'name\nMüller'],
    ['text/csv; Charset="iso-8859-1"', ascii('Müller'), 'Müller'],
    ["text/csv; header=present; charset='latin1'; x=y", ascii('Müller'), 'Müller'],
    ['text/plain; charset=windows-1252', [0x80, 0x20, 0x93, 0x68, 0x94], '€ “h”'],
    ['text/plain; charset=Shift_JIS', [0x93, 0xfa, 0x96, 0x7b], '日本'],
    ['text/plain; charset=EUC-KR', [0xb0, 0xa1], '가'],
    ['text/plain; charset=utf-16le', utf16('Grüße 👍'), 'Grüße 👍'],
    ['text/plain; charset=utf-16be', utf16('Grüße').swap16(), 'Grüße'],
    ['text/plain; charset=utf-16', Buffer.concat([Buffer.of(0xfe, 0xff), utf16('Grüße').swap16()]), 'Grüße'],
    ['text/plain', Buffer.concat([Buffer.of(0xff, 0xfe), utf16('Grüße')]), 'Grüße'],
    ['text/plain; charset=utf-8', Buffer.from('\uFEFFGrüße'), 'Grüße'],
    ['text/plain; charset=ISO-8859-1', Buffer.from('\uFEFFGrüße'), 'Grüße'],
    ['text/plain; charset=UTF8', Buffer.from('Grüße'), 'Grüße'],
    ['text/plain; charset=', Buffer.from('Grüße'), 'Grüße'],
    ['application/octet-stream; charset=binary', Buffer.from('Grüße'), 'Grüße'],
    ['text/plain', Buffer.from('Grüße'), 'Grüße'],
    ['text/plain; charset=utf-8', [0x4d, 0xfc], 'M\uFFFD'],
    ['text/event-stream; charset=ISO-8859-1', Buffer.from('data: ü'), 'data: ü'],
    ['text/plain; charset=klingon', [], ''],
  ])('%s is read as it says', async (type, bytes, expected) => {
    say(type, bytes)
    expect(await text()).toBe(expected)
  })

  test('is the same however it arrives: byte by byte, and read as a stream', async () => {
    respond = async (response) => {
      response.writeHead(200, { 'content-type': 'text/plain; charset=shift_jis' })
      for (const byte of [0x93, 0xfa, 0x96, 0x7b]) {
        response.write(Buffer.of(byte))
        await new Promise((resolve) => setImmediate(resolve))
      }
      response.end()
    }
    expect(await text()).toBe('日本')
    const response = await guardedFetch(outside.url, { signal }, { allowed })
    expect(await new Response(response.body).text()).toBe('日本')
  })

  test.each(['klingon', 'utf-7', '*'])('in the unknown charset %s is an error', async (charset) => {
    say(`text/plain; charset=${charset}`, [0x41])
    await expect(text()).rejects.toMatchObject({
      code: 'OUTPUT_INVALID',
      message: `The response is in an unknown charset: ${charset}.`,
    })
  })
})

describe('a reader of a response decodes it as declared', () => {
  const latin = () => say('application/json; charset=ISO-8859-1', ascii('{"name":"Müller"}'))
  const unknown = () => say('application/json; charset=klingon', ascii('{"name":"M"}'))
  const failure = { success: false, error: { code: 'OUTPUT_INVALID' } }

  test.each(['json', 'text', 'full'] as const)('an http tool with the result %s', async (result) => {
    const tool = await make(ctx, { kind: 'http', config: { url: outside.url, result } })
    latin()
    expect(JSON.stringify(await tool.call())).toContain('Müller')
    unknown()
    expect(await tool.call()).toMatchObject(failure)
  })

  test.each(['json', 'text', 'full'] as const)('an http-request step with the result %s', async (result) => {
    const parsed = config.parse({ method: 'GET', url: outside.url, result })
    const step = () => run({ config: parsed, ctx, data: {}, signal, idempotencyKey: 'k' })
    latin()
    expect(JSON.stringify(await step())).toContain('Müller')
    unknown()
    await expect(step()).rejects.toMatchObject({ code: 'OUTPUT_INVALID' })
  })

  test('a script', async () => {
    const code = `
      const read = async (how) => (await fetch('${outside.url}'))[how]()
      return [await read('text'), (await read('json')).name]`
    const tool = await make(ctx, { kind: 'script', config: { code, allowedHosts: [`127.0.0.1:${outside.port}`] } })
    latin()
    expect(await tool.call()).toEqual({ success: true, data: ['{"name":"Müller"}', 'Müller'] })
    unknown()
    expect(await tool.call()).toMatchObject(failure)
  })

  test('the message of a failure', async () => {
    const tool = await make(ctx, { kind: 'http', config: { url: outside.url } })
    const type = 'text/plain; charset=ISO-8859-1'
    respond = (response) => void response.writeHead(400, { 'content-type': type }).end(Buffer.from(ascii('für')))
    expect(await tool.call()).toMatchObject({ error: { details: ['status: 400', 'für'] } })
  })
})
