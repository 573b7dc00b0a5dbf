import { existsSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { env } from '@/server/env'
import { localStorage } from '@/server/files/local-storage'
import { outcome } from '../workflows/support'
import { BYTES, type DirectService, directService } from './direct-service'

const TRIES = 4
let service: DirectService
beforeAll(async () => {
  service = await directService({ RATE_LIMIT_FAILURES: String(TRIES) })
})
afterAll(() => service?.stop())

const breaks = async function* () {
  yield BYTES.subarray(0, 1)
  throw new Error('the caller has left')
}
const filesOf = (id: string) => readdirSync(service.folder).filter((name) => name.startsWith(id))

test('the bytes of one file are sent a few times a minute, and those of others besides', async () => {
  const [one, other] = [await service.begin(), await service.begin()]
  for (let times = 0; times < TRIES; times++) expect(await outcome(service.send(one, breaks))).toBe('INVALID_INPUT')
  expect(await outcome(service.send(one))).toBe('RATE_LIMITED')
  expect(await service.send(other)).toMatchObject({ id: other.id })
})

test('the bytes of a file are taken from one caller at a time', async () => {
  const begun = await service.begin()
  const results: unknown[] = []
  const slow = async function* () {
    yield BYTES.subarray(0, 1)
    results.push(await outcome(service.send(begun)))
    yield BYTES.subarray(1)
  }
  expect(await service.send(begun, slow)).toMatchObject({ id: begun.id })
  expect(results).toEqual(['CONFLICT'])
})

test('what a crash has left of an upload does not keep it from being sent again, and goes with it', async () => {
  const begun = await service.begin()
  await service.send(await service.begin())
  const left = join(service.folder, `${begun.id}.part`)
  writeFileSync(left, 'the by')
  expect(await service.send(begun)).toMatchObject({ size: BYTES.byteLength })
  const storage = localStorage(env().dataDir)
  expect(await storage.get(service.ctx.tenantId, begun.id)).toEqual(BYTES)
  expect(existsSync(left)).toBe(true)
  await storage.delete(service.ctx.tenantId, begun.id)
  expect(filesOf(begun.id)).toEqual([])
})

test('of two processes that write the same file, the first to finish counts', async () => {
  const { id } = await service.begin()
  const { tenantId } = service.ctx
  const storage = localStorage(env().dataDir)
  const receive = (text: string, first: Promise<unknown>) =>
    storage.receive?.(
      tenantId,
      id,
      (async function* () {
        yield Buffer.from(text.slice(0, 1))
        await first
        yield Buffer.from(text.slice(1))
      })(),
      text.length,
    )
  const fast = receive('fast', Promise.resolve())
  const slow = receive('slow', fast ?? Promise.resolve())
  expect([await fast, await slow]).toEqual(['stored', 'taken'])
  expect((await storage.get(tenantId, id))?.toString()).toBe('fast')
  expect(filesOf(id)).toEqual([id])
})
