import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test, vi } from 'vitest'
import { chunksOf } from '@/server/http/body'
import { streamOf } from '@/server/http/sent-request'
import { exactly, unstalled } from '@/server/http/streams'

const BYTE = new Uint8Array(1)

test('a stream that brings nothing fails, and its source is cancelled', async () => {
  let cancelled = false
  const source = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(BYTE),
    pull: () => new Promise(() => {}),
    cancel() {
      cancelled = true
    },
  })
  const reader = unstalled(source, 50).getReader()
  expect((await reader.read()).value).toEqual(BYTE)
  await expect(reader.read()).rejects.toThrow('brought nothing for 50 ms')
  expect(cancelled).toBe(true)
})

test('a slow reader is no stalled stream, and all of it arrives', async () => {
  const three = async function* () {
    for (let n = 0; n < 3; n++) yield BYTE
  }
  let read = 0
  for await (const chunk of chunksOf(unstalled(streamOf(three()), 20))) {
    read += chunk.byteLength
    await sleep(40)
  }
  expect(read).toBe(3)
})

test('its source ends with it: cancelled, or failed', async () => {
  let ended = 0
  const endless = async function* () {
    try {
      for (;;) yield BYTE
    } finally {
      ended += 1
    }
  }
  for await (const _ of chunksOf(unstalled(streamOf(endless())))) break
  expect(ended).toBe(1)
  const fails = async function* () {
    yield BYTE
    throw new Error('the disk is gone')
  }
  const all = async () => {
    for await (const _ of chunksOf(unstalled(streamOf(fails()))));
  }
  await expect(all()).rejects.toThrow('the disk is gone')
})

test('a stream of another size breaks off, and ends its source, even before anybody has read from it', async () => {
  const of = (bytes: number) =>
    exactly(
      streamOf(
        (async function* () {
          for (let n = 0; n < bytes; n++) yield BYTE
        })(),
      ),
      3,
    )
  const sizeOf = async (stream: ReadableStream<Uint8Array>) => (await new Response(stream).arrayBuffer()).byteLength
  expect(await sizeOf(of(3))).toBe(3)
  for (const bytes of [2, 4]) await expect(sizeOf(of(bytes))).rejects.toThrow('bytes')
  let cancelled = false
  const source = new ReadableStream<Uint8Array>({
    cancel() {
      cancelled = true
    },
  })
  await exactly(unstalled(source), 3).cancel()
  await vi.waitFor(() => expect(cancelled).toBe(true))
})
