import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withTransaction } from '@/server/context'
import { startWithFiles } from '@/server/runs/with-files'
import { loadSamples } from '@/server/tenants/boot/seed'
import { readTimeline } from '@/server/views/runs/timeline'
import { checkDefinition } from '@/server/workflows/check/definition'
import { SAMPLE_WORKFLOWS } from '@/server/workflows/samples'
import { type FreshDatabase, freshDatabase } from '../support/db'
import { startTestRuntime, type TestRuntime } from '../support/runtime'

let database: FreshDatabase
let runtime: TestRuntime
let dataDir: string
beforeAll(async () => {
  database = await freshDatabase()
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-samples-'))
  runtime = await startTestRuntime(database.url, { DATA_DIR: dataDir })
  await withTransaction(runtime.ctx, loadSamples)
})
afterAll(async () => {
  await runtime.stop()
  await database.close()
  rmSync(dataDir, { recursive: true, force: true })
})

const sample = (id: string) => {
  const found = SAMPLE_WORKFLOWS.find((workflow) => workflow.id === id)
  if (!found) throw new Error(`There is no sample ${id}.`)
  return found.definition
}

test.each(SAMPLE_WORKFLOWS)('$id has no problems, given its tools and agents', async ({ definition }) => {
  expect(await checkDefinition(runtime.ctx, definition)).toEqual([])
})

test.each(
  SAMPLE_WORKFLOWS.flatMap(({ id, definition: { steps } }) =>
    steps.filter(({ type }) => type === 'request-user-action').map(({ id: step, show }) => ({ id, step, show })),
  ),
)('whoever decides at $step of $id sees a card', ({ show }) => {
  expect(show).toEqual(expect.arrayContaining([{ label: expect.any(String), value: expect.any(String) }]))
})

describe('the refund by an agent', () => {
  const decide = async (answer: object) => {
    const { resumeRun } = await import('@/server/runs/resume')
    const runId = await runtime.start(sample('wf_refund'), { orderId: 'A1', amount: 240 })
    const { pauseSignal } = await runtime.wait(runId, ({ status }) => status === 'paused')
    expect(pauseSignal).toMatchObject({ title: 'Refund 240 for order A1', call: { toolId: 'tool_refund' } })
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', ...answer } as never })
    return (await runtime.wait(runId)).result
  }

  test('makes a small one at once', async () => {
    const run = await runtime.wait(await runtime.start(sample('wf_refund'), { orderId: 'A1', amount: 40 }))
    expect(run.result).toEqual({ orderId: 'A1', asked: 40, refunded: 40 })
  })

  test('asks a person about a large one, who may lower it', async () => {
    expect(await decide({ actionId: 'approve' })).toMatchObject({ refunded: 240 })
    expect(await decide({ actionId: 'approve', data: { amount: 120 } })).toMatchObject({ refunded: 120 })
  })
})

describe('the expense approval', () => {
  const data = { amount: 2_000, purpose: 'a desk' }

  async function decide(actionId: string) {
    const { resumeRun } = await import('@/server/runs/resume')
    const runId = await runtime.start(sample('wf_expense_approval'), data)
    await runtime.wait(runId, ({ status }) => status === 'paused')
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId, actionValue: actionId } })
    return runtime.wait(runId)
  }

  test('approves a small expense at once', async () => {
    const run = await runtime.wait(await runtime.start(sample('wf_expense_approval'), { ...data, amount: 20 }))
    expect(run).toMatchObject({ status: 'completed', data: { status: 'approved', decidedBy: 'rule' } })
  })

  test('asks a person about a large one', async () => {
    expect(await decide('approve')).toMatchObject({ status: 'completed', data: { decidedBy: 'people' } })
  })

  test('shows its subject as a card', async () => {
    const runId = await runtime.start(sample('wf_expense_approval'), data)
    const { pauseSignal } = await runtime.wait(runId, ({ status }) => status === 'paused')
    const show = [
      { label: 'Purpose', value: 'a desk' },
      { label: 'Amount', value: 2_000 },
    ]
    expect(pauseSignal).toMatchObject({ show })
  })

  test('says in the timeline which exits the run took', async () => {
    const { runId } = await decide('approve')
    const { steps, rows } = await readTimeline(runtime.ctx, { runId })
    expect(rows.map(([, step, , , , , , , exit]) => [steps[step]?.[0], exit])).toEqual([
      ['large', 'true'],
      ['larger', 'false'],
      ['decision', 'approve'],
      ['approved', undefined],
      ['end', undefined],
    ])
  })

  describe('of a very large one', () => {
    const start = async () => {
      const runId = await runtime.start(sample('wf_expense_approval'), { ...data, amount: 20_000 })
      await runtime.wait(runId, ({ status }) => status === 'paused')
      return runId
    }
    const vote = async (runId: string, sub: string, actionId = 'approve') => {
      const { resumeRun } = await import('@/server/runs/resume')
      const ctx = { ...runtime.ctx, actor: { kind: 'jwt', id: sub, secretId: 'sec_1', role: 'operator' } } as const
      return (await resumeRun(ctx, { runId, body: { type: 'request_user_action', actionId } })).status
    }

    test('needs two people other than the requester', async () => {
      const { resumeRun } = await import('@/server/runs/resume')
      const runId = await start()
      const own = resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'approve' } })
      await expect(own).rejects.toMatchObject({ code: 'SELF_APPROVAL' })
      expect(await vote(runId, 'ada')).toBe('paused')
      expect(await vote(runId, 'bob')).toBe('running')
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { decidedBy: 'people' } })
    })

    test('is rejected by one of them', async () => {
      const runId = await start()
      expect(await vote(runId, 'ada')).toBe('paused')
      expect(await vote(runId, 'bob', 'reject')).toBe('running')
      expect(await runtime.wait(runId)).toMatchObject({ error: { code: 'EXPENSE_REJECTED' } })
    })

    test('goes to an owner when they have not decided within three days', async () => {
      const { answerDue } = await import('@/server/interpreter/wait/due')
      const { resumeRun } = await import('@/server/runs/resume')
      const runId = await start()
      expect(await vote(runId, 'ada')).toBe('paused')
      const left = "due_at - created_at > interval '2 days 23 hours'"
      await database.sql.unsafe(
        `update pauses set due_at = now() - interval '1 s' where run_id = '${runId}' and ${left}`,
      )
      await answerDue({ db: runtime.db, log: runtime.ctx.log, now: () => new Date() })
      await runtime.wait(runId, ({ status, currentStepId }) => status === 'paused' && currentStepId === 'owner')
      await expect(vote(runId, 'bob')).rejects.toMatchObject({ code: 'NOT_ASSIGNED' })
      await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId: 'approve' } })
      expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', data: { decidedBy: 'people' } })
    })
  })

  test('fails the run when it is rejected', async () => {
    const run = await decide('reject')
    expect(run).toMatchObject({ status: 'failed', error: { code: 'EXPENSE_REJECTED' } })
    expect(run.error?.message).toBe('Nobody may spend 2000 on a desk.')
  })
})

describe('the supplier onboarding', () => {
  async function decide(actionId: string) {
    const { resumeRun } = await import('@/server/runs/resume')
    const runId = await runtime.start(sample('wf_supplier_onboarding'), { supplier: 'Okafor & Sons' })
    await runtime.wait(runId, ({ pauseSignals }) => pauseSignals.length === 2)
    const bank = { type: 'collect_inputs', data: { iban: 'DE02 1203 0000 0000 2020 51' } } as const
    expect(await resumeRun(runtime.ctx, { runId, body: bank })).toMatchObject({ status: 'paused' })
    await resumeRun(runtime.ctx, { runId, body: { type: 'request_user_action', actionId, actionValue: actionId } })
    return runtime.wait(runId)
  }

  test('continues when both people have answered and every document is numbered', async () => {
    expect(await decide('accept')).toMatchObject({
      status: 'completed',
      result: {
        iban: 'DE02 1203 0000 0000 2020 51',
        documents: [
          { number: 0, name: 'Trade licence' },
          { number: 1, name: 'Price list' },
        ],
      },
    })
  })

  test('fails the run when purchasing declines', async () => {
    expect(await decide('decline')).toMatchObject({ status: 'failed', error: { code: 'SUPPLIER_DECLINED' } })
  })
})

describe('the document extraction', () => {
  const start = async (text: string) => {
    const file = { name: 'scan.txt', type: 'text/plain', base64: Buffer.from(text).toString('base64') }
    return (
      await startWithFiles(runtime.ctx, {
        ...{ workflowId: 'wf_document_extraction', data: {} },
        files: [{ part: 'attachment', file }],
      })
    ).runId
  }

  test('takes the agent’s reading where all is legible', async () => {
    const run = await runtime.wait(await start('supplier: Okafor & Sons\ntotal: 240.50\ndue: 2026-04-01'))
    expect(run.result).toEqual({
      invoice: { supplier: 'Okafor & Sons', total: 240.5, due: '2026-04-01' },
      checkedBy: 'agent',
      file: 'scan.txt',
    })
  })

  test('has a person correct illegible parts, who sees the agent’s reading', async () => {
    const { resumeRun } = await import('@/server/runs/resume')
    const runId = await start('supplier: Okafor & Sons\ntotal: [illegible]\ndue: 2026-04-01')
    const { pauseSignal } = await runtime.wait(runId, ({ status }) => status === 'paused')
    const show = expect.arrayContaining([{ label: 'Supplier, as read', value: 'Okafor & Sons' }])
    expect(pauseSignal).toMatchObject({ title: 'Invoice in scan.txt', show })
    const data = { supplier: 'Okafor & Sons', total: 99, due: '2026-04-01' }
    await resumeRun(runtime.ctx, { runId, body: { type: 'collect_inputs', data } })
    expect((await runtime.wait(runId)).result).toEqual({ invoice: data, checkedBy: 'person', file: 'scan.txt' })
  })
})

describe('the order payment', () => {
  const start = async () => {
    const runId = await runtime.start(sample('wf_order_payment'), { orderId: 'A-17', total: 120 })
    await runtime.wait(runId, ({ currentStepId }) => currentStepId === 'paid')
    return runId
  }

  test('continues when enough was paid for this order', async () => {
    const { postEvent } = await import('@/server/events/post')
    const runId = await start()
    const pay = (key: string, amount: number) => postEvent(runtime.ctx, { name: 'order.paid', key, data: { amount } })
    await pay('A-18', 120)
    await pay('A-17', 119)
    await pay('A-17', 120)
    expect(await runtime.wait(runId)).toMatchObject({ status: 'completed', result: { orderId: 'A-17', amount: 120 } })
  })

  test('fails when nobody pays within a week', async () => {
    const { answerDue } = await import('@/server/interpreter/wait/due')
    const runId = await start()
    const now = () => new Date(Date.now() + 8 * 86_400_000)
    await answerDue({ db: runtime.db, log: runtime.ctx.log, now })
    expect(await runtime.wait(runId)).toMatchObject({ status: 'failed', error: { code: 'ORDER_NOT_PAID' } })
  })
})

describe('the order fulfilment', () => {
  const run = async (amount: number) =>
    runtime.wait(await runtime.start(sample('wf_order_fulfilment'), { orderId: 'A-17', amount }))

  test('reserves and charges', async () => {
    const result = { orderId: 'A-17', reservation: 'R-A-17', payment: 'P-A-17' }
    expect(await run(120)).toMatchObject({ status: 'completed', result })
  })

  test('releases the reservation when the charge fails, and fails', async () => {
    expect(await run(5_000)).toMatchObject({
      status: 'failed',
      error: { stepId: 'charge', message: 'The card was declined' },
      data: { released: 'R-A-17', notice: 'Order A-17: The card was declined' },
    })
  })
})

test('the payment reminders are for invoices that are late enough', async () => {
  expect((await runtime.wait(await runtime.start(sample('wf_payment_reminders')))).result).toEqual({
    reminders: [null, 'Invoice A-2 is 20 days late.', 'Invoice A-3 is 31 days late.'],
  })
})
