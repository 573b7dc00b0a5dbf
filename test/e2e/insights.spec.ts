import { createAgent, publishAgent } from '@/server/agents/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'
import { reached, resumeRun, startRun } from './support/runs'

test('the insights of a workflow show where people’s tasks wait, and the cost of agents', async ({
  page,
  workspace,
}) => {
  const { ctx, slug } = workspace
  const agent = await createAgent(ctx, {
    name: 'Stock keeper',
    instructions: 'Say how many are left.',
    model: { provider: 'scripted', modelId: 'scripted', prices: { input: 100, output: 100 } },
    outputSchema: { type: 'object', properties: { left: { type: 'number' } }, required: ['left'] },
  })
  await publishAgent(ctx, { id: agent.id })
  const actions = [
    { id: 'approve', label: 'Approve' },
    { id: 'reject', label: 'Reject' },
  ]
  const { id } = await createWorkflow(ctx, {
    name: 'Orders',
    steps: [
      { id: 'ask', type: 'call-agent', name: 'Ask the agent', agentId: agent.id, message: 'How many are left?' },
      { id: 'decision', type: 'request-user-action', name: 'The decision', title: 'May we?', actions },
      { id: 'end', type: 'end-flow', name: 'Decided' },
    ],
    edges: [
      { from: 'ask', to: 'decision' },
      { from: 'decision', to: 'end' },
    ],
  })
  await publishWorkflow(ctx, { id })
  const [decided, waiting] = [await startRun(workspace, id, {}), await startRun(workspace, id, {})]
  for (const runId of [decided, waiting]) await reached(workspace, runId, ({ status }) => status === 'paused')
  await resumeRun(workspace, decided, { type: 'request_user_action', actionId: 'approve' })
  await reached(workspace, decided, ({ status }) => status === 'completed')

  await page.goto(`/${slug}/workflows/${id}/insights`)
  const steps = page.getByRole('region', { name: 'Step by step', exact: true })
  await steps.getByRole('radiogroup', { name: 'What the colour shows' }).getByText('Waiting', { exact: true }).click()
  const node = (name: string) => steps.locator('.react-flow__node-step', { hasText: name })
  await expect(node('The decision')).toContainText(/half .+, 1 waiting/)
  await expect(node('Ask the agent')).toContainText('no tasks')

  const waits = page.getByRole('region', { name: 'Where people’s tasks wait', exact: true })
  await expect(waits.getByRole('img', { name: /^2 tasks were answered or are waiting/ })).toBeVisible()
  const task = waits.getByRole('row', { name: /The decision/ })
  await expect(task.getByRole('cell').first()).toHaveText('1')
  await expect(task.getByRole('cell').last()).toContainText(/^1\s*oldest /)

  // The same for the whole workspace, where every call of a model counts.
  for (const [address, counted] of [
    [`/workflows/${id}/insights`, 'Answers'],
    ['/insights', 'Calls'],
  ] as const) {
    await page.goto(`/${slug}${address}`)
    const cost = page.getByRole('region', { name: 'What agents cost', exact: true })
    await expect(cost.getByRole('img', { name: /^Agents cost 0\.\d+; the dearest day 0\.\d+/ })).toBeVisible()
    await expect(cost.getByRole('columnheader', { name: counted, exact: true })).toBeVisible()
    await expect(
      cost
        .getByRole('row', { name: /Stock keeper/ })
        .getByRole('cell')
        .last(),
    ).toHaveText(/^0\.\d+$/)
    await cost.getByRole('radiogroup', { name: 'What the chart shows' }).getByText('Tokens', { exact: true }).click()
    await expect(cost.getByRole('img', { name: /^Agents used [\d,]+ tokens/ })).toBeVisible()
  }

  // On a phone, every figure is visible.
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${slug}/insights`)
  const tables = page.getByRole('region', { name: /, as a table$/ })
  await expect(tables).toHaveCount(3)
  for (const table of await tables.all())
    expect(await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)).toBeLessThanOrEqual(1)
})
