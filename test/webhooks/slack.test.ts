import { afterAll, beforeAll, expect, test } from 'vitest'
import { cancelRun } from '@/server/runs/cancel'
import { setVaultSecret } from '@/server/vault/set'
import { createWebhook } from '@/server/webhooks/create'
import { testWebhook } from '@/server/webhooks/deliveries'
import { getWebhook } from '@/server/webhooks/list'
import { slackBody } from '@/server/webhooks/slack'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { type Receiver, startReceiver } from '../support/receiver'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let chat: Receiver
let runtime: TestRuntime

beforeAll(async () => {
  chat = await startReceiver(() => 200)
  database = await freshDatabase()
  runtime = await startTestRuntime(database.url, {
    ALLOW_PRIVATE_HOSTS: `127.0.0.1:${chat.port}`,
    PUBLIC_URL: 'https://millrace.example.com',
  })
})
afterAll(async () => {
  await runtime?.stop()
  await chat?.close()
  await database?.close()
})

const received = async (count: number) => {
  await expect.poll(() => chat.taken.length, { timeout: 20_000 }).toBe(count)
  return chat.taken.map(({ text }) => JSON.parse(text) as { text: string; blocks?: unknown[] })
}
const section = (text: string) => ({ type: 'section', text: { type: 'mrkdwn', text } })
const button = (text: string, url: string) => ({
  type: 'actions',
  elements: [{ type: 'button', text: { type: 'plain_text', text }, url }],
})

test('a chat gets messages in its own format, with a link to the task or the run', async () => {
  const events = ['run.paused', 'run.cancelled']
  const { id } = await createWebhook(runtime.ctx, { url: chat.url, events, format: 'slack' })
  expect(await getWebhook(runtime.ctx, { id })).toMatchObject({ format: 'slack' })
  await setVaultSecret(runtime.ctx, { name: 'PASS', value: 'swordfish_8472' })
  const runId = await runtime.start(
    {
      name: 'Order <!channel> & more',
      businessKey: '${order}',
      payload: { order: { type: 'string' } },
      steps: [
        {
          ...{ id: 'ok', type: 'request-user-action', title: 'Order ${order}', dueIn: 'P1D' },
          message: 'Look at <https://evil.example|this>: swordfish_8472',
          show: [{ label: 'Buyer', value: '<!here> & swordfish_8472' }],
          actions: [{ id: 'yes', label: 'Yes' }],
        },
      ],
    },
    { order: 'A-17' },
  )
  const name = 'Order &lt;!channel&gt; &amp; more A-17'
  const asks = `${name} waits for an answer: *Order A-17*`
  expect(await received(1)).toEqual([
    {
      text: asks,
      blocks: [
        section(asks),
        section('Look at &lt;https://evil.example|this&gt;: ***'),
        section('Buyer: &lt;!here&gt; &amp; ***'),
        section(expect.stringMatching(/^Due <!date\^\d{10}\^\{date_short_pretty\}, \{time\}\|[\dT:.-]+Z>$/)),
        button('Open the task', `https://millrace.example.com/task/${runId}/main%3Aok%231`),
      ],
    },
  ])
  await cancelRun(runtime.ctx, { runId, reason: 'Enough <of> it' })
  const ended = `${name} was cancelled.`
  expect((await received(2))[1]).toEqual({
    text: ended,
    blocks: [
      section(ended),
      section('Enough &lt;of&gt; it'),
      button('Open the run', `https://millrace.example.com/r/${runId}`),
    ],
  })
  await testWebhook(runtime.ctx, { id })
  expect((await received(3))[2]?.text).toContain('A test message')
})

test('a text that is long once it is escaped still fits into a block', () => {
  const told = { runId: 'run_1', workflowName: 'W', businessKey: null, startedVia: 'user' }
  const { blocks } = JSON.parse(slackBody('run.failed', { ...told, error: { message: '<'.repeat(5_000) } }))
  for (const { text } of blocks.slice(0, 2)) expect(text.text.length).toBeLessThanOrEqual(3_000)
  expect(blocks[1].text.text).toMatch(/^(&lt;)+…$/)
})

test('a message in Markdown is written with Slack’s marks, and no link hides where it leads', () => {
  const paused = (message: string) => {
    const pauseSignal = { id: 'main:ask#1', title: 'T', message }
    const told = { runId: 'run_1', workflowName: 'W', businessKey: null, startedVia: 'user', pauseSignal }
    return JSON.parse(slackBody('run.paused', told)).blocks[1].text.text
  }
  expect(
    paused('# Check\n\nThis is **urgent**, *really* ~~not~~ `a<b`.\n\n- one\n- two\n  1. inner\n\n> said & done'),
  ).toBe('*Check*\n\nThis is *urgent*, _really_ ~not~ `a&lt;b`.\n\n• one\n• two\n    1. inner\n\n> said &amp; done')
  expect(paused('[Your bank](https://evil.example/a|b?x=1&y=2)')).toBe(
    '<https://evil.example/a%7Cb?x=1&amp;y=2|Your bank> (evil.example)',
  )
  expect(paused('[x](javascript:alert(1)) <!channel> @here')).toBe('[x](javascript:alert(1)) &lt;!channel&gt; @here')
  expect(paused(`**${'&'.repeat(2_000)}**`)).toMatch(/^\*\*(&amp;)+…$/)
})
