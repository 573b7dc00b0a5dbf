import { expect, test } from 'vitest'
import type { Identity } from '@/server/auth/identity'
import { grantedStream } from '@/server/rest/granted-stream'

const identity = { tenantId: 'ten_1', actor: { kind: 'apiKey', id: 'key_1', role: 'viewer' } } as unknown as Identity

test.each(['before it is made', 'before anybody reads it', 'while it is read'])(
  'a body ends its source when the caller leaves %s',
  async (when) => {
    let ended = 0
    const source = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => controller.enqueue(Buffer.from('x')),
        cancel() {
          ended += 1
        },
      },
      { highWaterMark: 0 },
    )
    const caller = new AbortController()
    if (when === 'before it is made') caller.abort()
    const reader = grantedStream(source, identity, 'application/x-ndjson', caller.signal).getReader()
    if (when === 'while it is read') expect((await reader.read()).done).toBe(false)
    caller.abort()
    await expect.poll(() => ended).toBe(1)
    expect(await reader.read()).toEqual({ done: true, value: undefined })
  },
)
