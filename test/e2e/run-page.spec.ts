import type { Page } from '@playwright/test'
import { createAgent, publishAgent } from '@/server/agents/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { seedIterations } from '../support/seed-runs'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import { database, type Workspace } from './support/workspace'

/** A run of these steps, that has ended. */
async function ranOf(workspace: Workspace, steps: { id: string }[]): Promise<string> {
  const edges = steps.slice(1).map((step, at) => ({ from: steps[at]?.id, to: step.id }))
  const { id } = await createWorkflow(workspace.ctx, { name: 'Looked at', steps, edges })
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  return runId
}

const line = (page: Page, name: RegExp) => page.getByRole('region', { name: 'Timeline' }).getByRole('button', { name })

test('a script’s log is beside the failure, and all of it in the step’s details', async ({ page, workspace }) => {
  const code = `for (let at = 1; at <= 8; at++) console.log('row', at)
console.error('no card')
throw new Error('no card')`
  const runId = await ranOf(workspace, [{ id: 'pay', type: 'run-script', name: 'Pay', code } as never])
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const beside = page.getByRole('region', { name: 'Log of the failed attempt' })
  await expect(beside.getByRole('listitem')).toHaveText(['row 5', 'row 6', 'row 7', 'row 8', 'Error: no card'])
  // The timeline begins with the step, but the card has shown everything.
  await expect(line(page, /^Pay, failed/)).toHaveAttribute('aria-current', 'true')
  await expect(page.getByRole('complementary', { name: 'Details of Pay' })).toHaveCount(0)
  await page.getByRole('button', { name: 'Show all', exact: true }).click()
  const whole = page
    .getByRole('complementary', { name: 'Details of Pay' })
    .getByRole('region', { name: 'Log of attempt 1' })
  await expect(whole.getByRole('listitem')).toHaveCount(9)
})

test('each attempt has a bar of its own, and all of them failed', async ({ page, workspace }) => {
  const runId = await ranOf(workspace, [
    {
      ...{ id: 'call', type: 'run-script', name: 'Call the shop', code: "await fetch('http://127.0.0.1:9/')" },
      ...{ allowedHosts: ['127.0.0.1:9'], retry: { maxAttempts: 3, initialDelayMs: 100, backoff: 'fixed' } },
    } as never,
  ])
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const row = line(page, /^Call the shop, failed, 3 attempts/)
  await expect(row).toBeVisible()
  for (const attempt of [1, 2, 3]) await expect(row.locator(`[title^="attempt ${attempt}, failed"]`)).toHaveCount(1)
  await expect(row.locator('[data-failed]')).toHaveCount(3)
})

/** A run of an agent that calls a tool with these arguments. */
async function askedAbout(workspace: Workspace, args: string) {
  const { stock } = await newCompany(workspace.ctx)
  const agent = await createAgent(workspace.ctx, {
    name: 'Stock keeper',
    instructions: 'Say how many are left.',
    model: { provider: 'scripted', modelId: 'scripted', prices: { input: 100, output: 100 } },
    tools: [stock],
    outputSchema: { type: 'object', properties: { left: { type: 'number' } }, required: ['left'] },
  })
  await publishAgent(workspace.ctx, { id: agent.id })
  const step = { id: 'ask', type: 'call-agent', name: 'Ask', agentId: agent.id, message: `use ${stock} ${args}` }
  return { agent: agent.id, stock, runId: await ranOf(workspace, [step]) }
}

test('an agent’s step opens into its messages, tool calls, tokens and cost', async ({ page, workspace }) => {
  const { stock, runId } = await askedAbout(workspace, '{"article": "AX-210"}')
  await page.goto(`/${workspace.slug}/runs/${runId}?step=ask&tab=messages`)
  const details = page.getByRole('complementary', { name: 'Details of Ask' })
  await expect(details).toContainText('AX-210')
  const fact = (name: string) => details.locator('dl div').filter({ has: page.locator('dt', { hasText: name }) })
  await expect(fact('Tool calls').locator('dd')).toHaveText('1')
  await expect(fact('Tokens').locator('dd')).toHaveText(/\d+ in, \d+ out/)
  await expect(fact('Cost').locator('dd')).toHaveText(/^0\.\d+$/)
  await expect(details.getByText(stock).or(details.getByText('Look up stock')).first()).toBeVisible()
})

test('an agent’s step opens into its calls, each with what went in, what came out, and its cost', async ({
  page,
  workspace,
}) => {
  const { runId } = await askedAbout(workspace, '{"article": "AX-210"}')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  const calls = page.getByRole('button', { name: 'Calls of Ask' })
  await expect(calls).toHaveAttribute('aria-expanded', 'false')
  await calls.click()
  await expect(line(page, /^Scripted, offline, [\d,]+ in, [\d,]+ out, cost 0\.\d+/)).toHaveCount(2)
  await line(page, /^Look up stock/).click()
  await expect(page).toHaveURL(/step=ask(~|%7E)2/)
  const details = page.getByRole('complementary', { name: 'Details of Look up stock' })
  await expect(details.getByRole('region', { name: 'Arguments' })).toContainText('AX-210')
  await expect(details.getByRole('region', { name: 'Result' })).toContainText('left')
  // The address opens it again, and the keyboard closes the step around it.
  await page.reload()
  await expect(details).toBeVisible()
  await line(page, /^Look up stock/).focus()
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('ArrowLeft')
  await expect(calls).toHaveAttribute('aria-expanded', 'false')
  await expect(line(page, /^Look up stock/)).toHaveCount(0)
})

test('an agent’s page lists its turns in runs, with their calls, and leads to the step of each', async ({
  page,
  workspace,
}) => {
  const { agent, runId } = await askedAbout(workspace, '{"article": "AX-210"}')
  await page.goto(`/${workspace.slug}/agents/${agent}?tab=turns`)
  const turns = page.getByRole('list', { name: 'Turns, newest first' })
  await expect(turns.getByRole('link')).toHaveCount(1)
  const turn = turns.getByRole('listitem').first()
  await expect(turn).toContainText(/[\d,]+ in, [\d,]+ out, cost 0\.\d+/)
  await turn.getByRole('button', { name: /Completed/ }).click()
  await turn.getByRole('button', { name: /^Look up stock/ }).click()
  await expect(turn.getByRole('region', { name: 'Arguments' })).toContainText('AX-210')
  await expect(turn.getByRole('region', { name: 'Result' })).toContainText('left')
  await turn.getByRole('link', { name: 'Looked at: Ask' }).click()
  await expect(page).toHaveURL(new RegExp(`/runs/${runId}\\?step=ask`))
  await expect(page.getByRole('complementary', { name: 'Details of Ask' })).toBeVisible()
})

test('a failed call says so, and why', async ({ page, workspace }) => {
  const { runId } = await askedAbout(workspace, '{"article": 7}')
  await page.goto(`/${workspace.slug}/runs/${runId}?step=ask~2`)
  await expect(line(page, /^Look up stock, failed/)).toBeVisible()
  const details = page.getByRole('complementary', { name: 'Details of Look up stock' })
  await expect(details.getByRole('region', { name: 'Error' })).toContainText('INVALID_INPUT')
})

test('“what happened so far” says that the branches wait, not that they run, once all of them wait', async ({
  page,
  workspace,
}) => {
  const ask = (id: string, name: string) => ({
    id,
    type: 'request-user-action',
    name,
    actions: [{ id: 'yes', label: 'Yes' }],
  })
  const branches = ['left', 'right'].map((id) => ({ id, label: id }))
  const { id } = await createWorkflow(workspace.ctx, {
    name: 'Two at once',
    steps: [{ id: 'both', type: 'parallel', branches }, ask('one', 'Ask Ada'), ask('two', 'Ask Grace')],
    edges: [
      { from: 'both', to: 'one', on: 'left' },
      { from: 'both', to: 'two', on: 'right' },
    ],
  })
  await publishWorkflow(workspace.ctx, { id })
  const runId = await startRun(workspace, id, {})
  await reached(workspace, runId, ({ pauseSignals }) => pauseSignals.length === 2)
  await page.goto(`/task/${runId}/one`)
  const soFar = page.getByRole('region', { name: 'What happened so far' })
  await expect(soFar.getByRole('listitem').filter({ hasText: 'both' })).toContainText('Waiting')
})

test('the graph of a run is the editor’s canvas, with the state of each step, and the keyboard opens steps', async ({
  page,
  workspace,
}) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${runId}?view=graph`)
  const graph = page.getByRole('region', { name: 'Graph of the run' })
  const waiting = graph.locator('.react-flow__node-step', { hasText: 'Waiting' })
  await expect(waiting).toHaveCount(1)
  await expect(graph.locator('.react-flow__node-step', { hasText: 'Not reached' }).first()).toBeVisible()
  await expect(graph.getByText('START')).toBeVisible()
  await expect(graph.getByText('END', { exact: true })).toBeVisible()
  await expect(graph.getByRole('button', { name: /^Add step/ })).toHaveCount(0)
  await graph.locator('.react-flow__node-start').focus()
  await page.keyboard.press('ArrowDown')
  await expect(waiting).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('complementary', { name: /^Details of/ })).toBeVisible()
  // Where the editor has them, in its words.
  const names = () => page.locator('.react-flow__node-step').allInnerTexts()
  const ran = (await names()).map((text) => text.split('\n').slice(0, 2).join(' '))
  await page.goto(`/${workspace.slug}/workflows/${approval}`)
  await expect(page.locator('.react-flow__node-step').first()).toBeVisible()
  expect((await names()).map((text) => text.split('\n').slice(0, 2).join(' '))).toEqual(ran)
})

test('a run of five thousand iterations sends and draws no more than one of a thousand', async ({
  page,
  workspace,
}) => {
  const weigh = async (iterations: number) => {
    const { runId } = await seedIterations(database().sql, workspace.tenantId, iterations)
    let bytes = 0
    const count = async (response: { url(): string; body(): Promise<Buffer> }) => {
      if (/\/runs\/|\/api\/trpc/.test(response.url()))
        bytes += (await response.body().catch(() => Buffer.alloc(0))).length
    }
    page.on('response', count)
    await page.goto(`/${workspace.slug}/runs/${runId}`)
    await expect(line(page, /^Each order/)).toBeVisible()
    page.off('response', count)
    return { bytes, lines: await page.getByRole('region', { name: 'Timeline' }).getByRole('listitem').count() }
  }
  const small = await weigh(1_000)
  const large = await weigh(5_000)
  expect(large.lines).toBeLessThanOrEqual(small.lines + 1)
  expect(large.lines).toBeLessThan(80)
  expect(large.bytes).toBeLessThan(small.bytes * 2.2)
})

test('a filter of a link says the names of workflow and step', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, refund, { order: 'N-1', amount: 5 })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  const filters = page.getByRole('search', { name: 'Filter runs' })
  await page.goto(`/${workspace.slug}/runs?workflow=${refund}&step=pay_back&status=failed`)
  await expect(filters.getByRole('button', { name: 'Failed at Pay back: remove this filter' })).toBeVisible()
  await expect(filters.getByLabel('Workflow', { exact: true }).first()).toHaveValue('Refund')
})

test('a failed run says how many others failed in the same way, and leads to them', async ({ page, workspace }) => {
  const { refund } = await newCompany(workspace.ctx)
  const runIds: string[] = []
  for (const order of ['N-1', 'N-2', 'N-3']) {
    const runId = await startRun(workspace, refund, { order, amount: 5 })
    await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
    runIds.push(runId)
  }
  // Of another workflow, so not in the same way.
  await ranOf(workspace, [{ id: 'pay_back', type: 'run-script', code: "throw new Error('no card')" } as never])
  await page.goto(`/${workspace.slug}/runs/${runIds[0]}`)
  await page.getByRole('link', { name: '2 other runs failed in the same way' }).click()
  await expect(page).toHaveURL(new RegExp(`/runs\\?status=failed&workflow=${refund}&code=\\w+&step=pay_back$`))
  await expect(page.getByRole('main').getByRole('link', { name: 'Refund' })).toHaveCount(3)
})

test('a sensitive value is revealed to an admin who confirms it, and the audit log says so; an editor cannot', async ({
  page,
  workspace,
  browserOf,
}) => {
  const { refund } = await newCompany(workspace.ctx)
  const iban = 'DE02120300000000202051'
  const runId = await startRun(workspace, refund, { order: 'N-1', amount: 5, iban })
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  const inputOf = (of: Page) => of.getByRole('region', { name: 'Input', exact: true })

  const editor = await browserOf('editor')
  await editor.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(inputOf(editor)).toContainText('IBAN is sensitive.')
  await expect(editor.getByRole('button', { name: /^Reveal/ })).toHaveCount(0)

  const admin = await browserOf('admin')
  await admin.goto(`/${workspace.slug}/runs/${runId}`)
  const reveal = inputOf(admin).getByRole('button', { name: 'Reveal IBAN' })
  await reveal.click()
  const dialog = admin.getByRole('dialog', { name: 'Reveal “IBAN”?' })
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(admin.getByRole('main')).not.toContainText(iban)
  await reveal.click()
  await dialog.getByRole('button', { name: 'Reveal' }).click()
  await expect(inputOf(admin)).toContainText(iban)
  await inputOf(admin).getByRole('button', { name: 'Hide IBAN' }).click()
  await expect(admin.getByRole('main')).not.toContainText(iban)

  // One entry: the cancelled dialog revealed nothing.
  await page.goto(`/${workspace.slug}/settings/audit?action=run.revealed`)
  await expect(page.getByRole('row')).toHaveCount(2)
  await expect(page.getByRole('row').last()).toContainText('admin')
})
