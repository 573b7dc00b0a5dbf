import { createWorkflow, publishWorkflow, updateWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'
import { reached, resumeRun, startRun } from './support/runs'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']
const actions = [
  { id: 'yes', label: 'Yes' },
  { id: 'no', label: 'No' },
]
const purchase = (limit: string) => ({
  payload: { amount: { type: 'number', required: true } },
  steps: [
    { id: 'approve', type: 'request-user-action', name: 'Approve', actions },
    { id: 'child', type: 'run-workflow', name: 'Look up', workflowId: '', saveAs: 'found' },
    { id: 'check', type: 'condition', name: 'Check stock', when: limit },
    { id: 'paid', type: 'end-flow', name: 'Paid', output: { paid: '${amount}' } },
    { id: 'later', type: 'end-flow', name: 'Later', output: { paid: 0 } },
    { id: 'refused', type: 'end-flow', name: 'Refused', output: { refused: true } },
  ],
  edges: [
    { from: 'approve', to: 'child', on: 'yes' },
    { from: 'approve', to: 'refused', on: 'no' },
    { from: 'child', to: 'check' },
    { from: 'check', to: 'paid', on: 'true' },
    { from: 'check', to: 'later', on: 'false' },
  ],
})

test('a run is tried with another answer and another result, and stays as it is', async ({
  page,
  workspace,
  browserOf,
}) => {
  const { ctx } = workspace
  const stock = await createWorkflow(ctx, {
    name: 'Stock',
    steps: [{ id: 'end', type: 'end-flow', output: { stock: 5 } }],
    edges: [],
  } as never)
  await publishWorkflow(ctx, { id: stock.id })
  const definition = purchase('${found.stock} > 0')
  for (const step of definition.steps) if (step.id === 'child') step.workflowId = stock.id
  const { id } = await createWorkflow(ctx, { name: 'Purchase', ...definition } as never)
  await publishWorkflow(ctx, { id })
  const runId = await startRun(workspace, id, { amount: 40 })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await resumeRun(workspace, runId, { type: 'request_user_action', actionId: 'yes' })
  await reached(workspace, runId, ({ status }) => status === 'completed')

  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await page.getByRole('link', { name: 'What if…' }).click()
  const would = page.getByRole('region', { name: 'How it would go' })
  await expect(would).toContainText('The same way to the same result.')
  const graph = page.getByRole('region', { name: 'The way of the run, and what it would be' })
  const box = (name: string) => graph.locator('.react-flow__node', { hasText: name })

  await box('Approve').click()
  const approve = page.getByRole('complementary', { name: 'Approve' })
  await approve.getByRole('radio', { name: 'No' }).check()
  await expect(would).toContainText('At Approve, Yes to Look up becomes No to Refused.')
  await expect(would).toContainText('Calls no longer: Look up')
  await expect(box('Refused')).toContainText('Only in the what if')
  if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/what-if.png`, fullPage: true })
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.getByRole('button', { name: 'Copy link' }).click()
  const link = await page.evaluate(() => navigator.clipboard.readText())
  await approve.getByRole('button', { name: 'Undo this change' }).click()
  await expect(would).toContainText('The same way to the same result.')

  await box('Look up').click()
  const child = page.getByRole('complementary', { name: 'Look up' })
  await child.getByLabel('Result').fill('{ "stock": ')
  await expect(child).toContainText('This is not JSON yet.')
  await child.getByLabel('Result').fill('{ "stock": 0 }')
  await expect(would).toContainText('At Check stock, True to Paid becomes False to Later.')
  await child.getByText('It fails').click()
  await expect(would).toContainText('Look up')
  await page.getByRole('button', { name: 'Undo: Look up fails' }).click()
  await expect(would).toContainText('The same way to the same result.')
  expect(await violationsOf(page, WCAG)).toEqual([])

  await updateWorkflow(ctx, {
    id,
    body: {
      steps: definition.steps.map((step) => (step.id === 'check' ? { ...step, when: '${found.stock} > 9' } : step)),
    } as never,
  })
  await page.getByRole('combobox', { name: 'Try it on' }).click()
  await page.getByRole('option', { name: 'The draft' }).click()
  await expect(would).toContainText('At Check stock, True to Paid becomes False to Later.')

  if (process.env.SHOTS) {
    await page.emulateMedia({ colorScheme: 'dark' })
    await page.screenshot({ path: `${process.env.SHOTS}/what-if-dark.png`, fullPage: true })
    await page.setViewportSize({ width: 390, height: 800 })
    await page.screenshot({ path: `${process.env.SHOTS}/what-if-phone.png`, fullPage: true })
  }
  await reached(workspace, runId, ({ status }) => status === 'completed')

  const other = await page.context().newPage()
  await other.goto(link)
  await expect(other.getByRole('region', { name: 'How it would go' })).toContainText('becomes No to Refused.')
  await other.close()
  const viewer = await browserOf('viewer')
  await viewer.goto(link)
  await expect(viewer.getByText('Only editors can try changes on a run')).toBeVisible()
})
