import { createWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const purchase = {
  name: 'Purchase',
  initialStep: 'total',
  payload: { amount: { type: 'number', required: true } },
  steps: [
    { id: 'total', type: 'set-data', name: 'Add tax', compute: { total: '${amount} * 1.2' } },
    { id: 'rate', type: 'http-request', name: 'Look up the rate', url: 'https://rates.test/${total}', saveAs: 'rate' },
    { id: 'ask', type: 'collect-inputs', name: 'Ask for a reason', output: { reason: { type: 'string' } } },
    { id: 'each', type: 'for-each', name: 'Each line', items: [1, 2, 3], result: '${twice}', saveAs: 'lines' },
    { id: 'line', type: 'set-data', name: 'Double it', compute: { twice: '${item} * 2' } },
    {
      id: 'end',
      type: 'end-flow',
      name: 'Bought',
      output: { sum: '${rate.sum}', why: '${reason}', of: '${lines.results}' },
    },
  ],
  edges: [
    { from: 'total', to: 'rate' },
    { from: 'rate', to: 'ask' },
    { from: 'ask', to: 'each' },
    { from: 'each', to: 'line', on: 'each' },
    { from: 'each', to: 'end', on: 'done' },
  ],
}

test('a draft is stepped through: computed, typed, answered, changed, skipped, and back', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, purchase as never)
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await page.getByRole('button', { name: 'Test run', exact: true }).click()
  await page.getByRole('tab', { name: 'Step through' }).click()
  const panel = page.getByRole('tabpanel')
  await panel.getByLabel('amount').fill('100')
  await panel.getByRole('button', { name: 'Start stepping' }).click()

  // It computes.
  const next = (name: string) => panel.getByRole('region', { name: `Next: ${name}`, exact: true })
  await expect(next('Add tax')).toContainText('This step only computes.')
  await page.keyboard.press('F10')
  await expect(next('Look up the rate')).toContainText('calls something outside')
  await expect(next('Look up the rate').getByRole('row', { name: /total/ })).toHaveText('total120Add tax')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shots(page, 'call')

  // A call waits for its result.
  await expect(panel.getByRole('button', { name: 'Step', exact: true })).toBeDisabled()
  await next('Look up the rate').getByText('Type its result').click()
  await next('Look up the rate').getByRole('textbox', { name: 'Its result' }).fill('{ "sum": 7 }')
  await next('Look up the rate').getByRole('button', { name: 'Use this result' }).click()

  // A question has its form, and no task.
  await next('Ask for a reason').getByLabel('reason').fill('Because')
  expect(await violationsOf(page, WCAG)).toEqual([])
  await shots(page, 'question')
  await next('Ask for a reason').getByRole('button', { name: 'Answer' }).click()
  await expect(next('Each line')).toContainText('runs branches')
  await expect(panel.getByRole('navigation', { name: 'Steps so far' }).getByRole('listitem')).toHaveText([
    'Add tax',
    'Look up the ratetyped',
    'Ask for a reasonanswered',
  ])

  // Branches one after the other, until the rest is skipped.
  await panel.getByRole('button', { name: 'Step', exact: true }).click()
  await expect(next('Double it').getByRole('row', { name: /item/ })).toHaveText('item1Each line')
  await panel.getByRole('button', { name: 'Step', exact: true }).click()
  await expect(next('Double it').getByLabel('Each line: item 2, 2 of 3')).toBeVisible()
  await shots(page, 'branches')
  await next('Double it').getByLabel('Each line: item 2, 2 of 3').selectOption('Skip to item 3')
  await expect(next('Double it').getByLabel('Each line: item 3, 3 of 3')).toBeVisible()

  // A value is changed, and counts from here on.
  await next('Double it').getByText('Data here').click()
  const data = next('Double it').getByRole('textbox', { name: 'Data before this step' })
  const text = await data.innerText()
  await data.fill(text.replace('"item": 3', '"item": 50'))
  await next('Double it').getByRole('button', { name: 'Change these values' }).click()
  await expect(next('Double it').getByRole('row', { name: /item/ })).toHaveText('item50changed by you before Double it')
  await panel.getByRole('button', { name: 'Continue' }).click()
  const end = panel.getByRole('region', { name: 'The end' })
  await expect(end).toContainText('The run would end here')
  await expect(end).toContainText('Because')
  await expect(end).toContainText('100')
  await expect(end).not.toContainText('4')

  // This tab keeps it; nothing was stored or started.
  await page.reload()
  await expect(end).toContainText('The run would end here')

  // Back to before the question: its answer is dropped, the result before it stays.
  await panel.getByRole('button', { name: /Ask for a reason/ }).click()
  await expect(next('Ask for a reason').getByLabel('reason')).toHaveValue('')
  await panel.getByRole('button', { name: 'Back', exact: true }).click()
  await expect(next('Look up the rate')).toContainText('calls something outside')
})

test('it continues to a breakpoint, which this browser keeps, and follows an edited draft', async ({
  page,
  workspace,
}) => {
  const { id } = await createWorkflow(workspace.ctx, purchase as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?panel=through`)
  const panel = page.getByRole('tabpanel')
  await panel.getByLabel('amount').fill('100')
  await panel.getByRole('button', { name: 'Start stepping' }).click()
  const next = (name: string) => panel.getByRole('region', { name: `Next: ${name}`, exact: true })
  await expect(next('Add tax')).toBeVisible()
  const dot = (name: string) => page.getByRole('button', { name: `Breakpoint at ${name}` }).first()
  // The panel lies over steps at the end of the graph.
  await page.getByRole('button', { name: 'Show the whole graph' }).click()
  await dot('Bought').click()
  await expect(dot('Bought')).toHaveAttribute('aria-pressed', 'true')
  await shots(page, 'breakpoint')
  // The keys work in the panel only, and B is for the selected step.
  await panel.getByRole('button', { name: 'Step', exact: true }).focus()
  await page.keyboard.press('b')
  await expect(panel.getByRole('button', { name: 'Breakpoint at Add tax' })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('b')
  await page.keyboard.press('F5')
  // A call cannot be passed without a word.
  await expect(next('Look up the rate')).toBeVisible()
  await next('Look up the rate').getByText('Let it fail').first().click()
  await next('Look up the rate').getByRole('button', { name: 'Let it fail' }).click()
  await expect(panel.getByRole('region', { name: 'The end' })).toContainText('The run would fail at Look up the rate')
  await panel.getByRole('button', { name: 'Back', exact: true }).click()
  await next('Look up the rate').getByText('Type its result').click()
  await next('Look up the rate').getByRole('button', { name: 'Use this result' }).click()
  await next('Ask for a reason').getByLabel('reason').fill('Because')
  await next('Ask for a reason').getByRole('button', { name: 'Answer' }).click()
  await panel.getByRole('button', { name: 'Continue' }).click()
  await expect(next('Bought')).toContainText('will fail here')
  await page.reload()
  await expect(dot('Bought')).toHaveAttribute('aria-pressed', 'true')
  await expect(next('Bought')).toBeVisible()
})

test('a call is run alone as a test, or takes its last result', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, {
    ...{ name: 'Wait', initialStep: 'now', edges: [{ from: 'now', to: 'end' }] },
    steps: [
      {
        id: 'now',
        type: 'call-tool',
        name: 'Look at the clock',
        toolId: 'tool_date',
        args: { operation: 'now' },
        saveAs: 'now',
      },
      { id: 'end', type: 'end-flow', output: { now: '${now}' } },
    ],
  } as never)
  await page.goto(`/${workspace.slug}/workflows/${id}?panel=through`)
  const panel = page.getByRole('tabpanel')
  await panel.getByRole('button', { name: 'Start stepping' }).click()
  const call = panel.getByRole('region', { name: 'Next: Look at the clock' })
  await call.getByRole('button', { name: 'Use the last result' }).click()
  await expect(call.getByRole('alert')).toHaveText('No run has completed this step yet.')
  await call.getByRole('button', { name: 'Run it' }).click()
  await expect(panel.getByRole('button', { name: /Look at the clock.*test run/ })).toBeVisible()
  await panel.getByRole('button', { name: 'Continue' }).click()
  await expect(panel.getByRole('region', { name: 'The end' })).toContainText('20')
})

/** In both colours, and on a phone. */
async function shots(page: import('@playwright/test').Page, name: string): Promise<void> {
  const folder = process.env.SHOTS
  if (!folder) return
  for (const scheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme: scheme })
    await page.waitForTimeout(300)
    await page.screenshot({ path: `${folder}/${name}-${scheme}.png` })
  }
  await page.emulateMedia({ colorScheme: 'light' })
}

test('on a phone, the panel is a sheet', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, purchase as never)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${workspace.slug}/workflows/${id}?panel=through`)
  const panel = page.getByRole('tabpanel')
  await panel.getByLabel('amount').fill('100')
  await panel.getByRole('button', { name: 'Start stepping' }).click()
  await panel.getByRole('button', { name: 'Step', exact: true }).click()
  await expect(panel.getByRole('region', { name: 'Next: Look up the rate' })).toBeVisible()
  expect(await violationsOf(page, WCAG)).toEqual([])
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  await shots(page, 'phone')
})
