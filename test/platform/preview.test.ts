import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Preview, seen, startPreview } from '../support/platform/preview'

let preview: Preview
beforeAll(async () => {
  preview = await startPreview()
  await preview.inngest.register(`${preview.url}/api/inngest`)
})
afterAll(() => preview?.close())

const outbox = async () => Number((await preview.database.sql`select count(*) as n from outbox`)[0]?.n)
const ended = async () =>
  Number((await preview.database.sql`select count(*) as n from runs where status = 'completed'`)[0]?.n)

const asleep = () => seen(async () => preview.sleeps())

test('every event leaves before the process sleeps, so runs go on although nobody calls again', async () => {
  const before = await ended()
  // So that no call of Inngest wakes the process in between.
  const release = preview.inngest.hold()
  const { taken } = preview.inngest
  for (let i = 1; i <= 15; i++) {
    const from = taken.length
    const { status } = await preview.call('POST', '/api/workflow/start-async/wf_hello', { name: `caller ${i}` })
    expect(status).toBe(200)
    expect(await asleep(), preview.logs()).toBe(true)
    expect(taken.slice(from)).toEqual(['workflow/walk.requested'])
  }
  expect(await outbox()).toBe(0)
  await release()
  expect(await seen(async () => (await ended()) === before + 15), preview.logs()).toBe(true)
  expect(await asleep()).toBe(true)
})
