import { afterEach, describe, expect, test } from 'vitest'
import { StepFailure, TransientError } from '@/server/errors'
import { findStepType } from '@/server/steps/registry'
import { testEffect } from '@/server/steps/test-effect'
import { type EffectServer, startEffects } from '../support/effects'

if (testEffect.mode !== 'effect') throw new Error('test-effect must do work')
const { run, config } = testEffect
let server: EffectServer | undefined
afterEach(() => server?.stop())

async function call(answer: { status: number; headers?: Record<string, string>; body?: unknown }) {
  server = await startEffects(() => answer)
  const parsed = config.parse({ url: server.url, body: { n: 1 } })
  return run({
    config: parsed,
    ctx: {} as never,
    data: {},
    signal: new AbortController().signal,
    idempotencyKey: 'key-1',
  })
}

describe('test-effect', () => {
  test('is not a step type of the product', () => {
    expect(findStepType('test-effect')).toBeUndefined()
  })

  test('sends its idempotency key and returns the server’s answer', async () => {
    expect(await call({ status: 200, body: { ok: true } })).toEqual({ output: { ok: true } })
    expect(server?.seen).toMatchObject([{ key: 'key-1', path: '/', body: { n: 1 } }])
    expect(server?.seen).toHaveLength(1)
  })

  test('treats a 5xx as temporary and a 4xx as permanent', async () => {
    await expect(call({ status: 503, headers: { 'retry-after': '7' } })).rejects.toMatchObject({
      name: TransientError.name,
      retryAfterMs: 7000,
    })
    await expect(call({ status: 404 })).rejects.toBeInstanceOf(StepFailure)
  })

  test('calls this machine only', () => {
    for (const url of [
      'http://example.com/',
      'https://127.0.0.1:1/',
      'http://127.0.0.1.example.com:80/',
      'http://127.0.0.1/',
    ]) {
      expect(() => config.parse({ url }), url).toThrow()
    }
  })
})
