import { createAgent, publishAgent, updateAgent } from '@/server/agents/lifecycle'
import { createTool, publishTool, updateTool } from '@/server/tools/lifecycle'
import { createWorkflow, publishWorkflow } from '@/server/workflows/lifecycle'
import { violationsOf } from './support/axe'
import { expect, test } from './support/fixture'

test('two versions of a tool are side by side, with what breaks for callers and who keeps the old one', async ({
  page,
  workspace: { ctx, slug },
}) => {
  const article = { type: 'string', description: 'The number of the article' }
  const { id } = await createTool(ctx, {
    name: 'Look up stock',
    description: 'Says how many are left.',
    kind: 'script',
    config: { code: "const left = 12\nconst where = 'here'\nreturn { left, where }" },
    inputSchema: { type: 'object', properties: { article }, required: ['article'] },
  })
  await publishTool(ctx, { id })
  const caller = await createWorkflow(ctx, {
    ...{ name: 'Order', initialStep: 'look', edges: [] },
    steps: [{ id: 'look', type: 'call-tool', toolId: id, args: { article: 'AX-210' } }],
  } as never)
  await publishWorkflow(ctx, { id: caller.id })
  const place = { type: 'string' }
  await updateTool(ctx, {
    id,
    body: {
      config: { code: "const left = 13\nconst where = 'here'\nreturn { left, where }", timeoutMs: 5000 },
      inputSchema: { type: 'object', properties: { article, place }, required: ['article', 'place'] },
    },
  })
  await publishTool(ctx, { id })
  await page.goto(`/${slug}/tools/${id}?tab=versions`)
  const values = page.getByRole('table', { name: 'Fields that differ' })
  await expect(values.getByRole('row')).toHaveText(['FieldVersion 1Version 2', 'Time limitNone5 seconds'])
  await expect(page.getByRole('textbox', { name: 'Code, Version 1' })).toContainText('const left = 12')
  await expect(page.getByRole('textbox', { name: 'Code, Version 2' })).toContainText('const left = 13')
  const schema = page.getByRole('table', { name: 'Input schema' })
  await expect(schema.getByRole('row')).toHaveCount(2)
  await expect(schema).toContainText('Breaking: Callers that do not send place fail.')
  const users = page.getByRole('region', { name: 'Used by' })
  await expect(users).toContainText('1 of them keeps to version 1.')
  await expect(users.getByRole('listitem')).toHaveText(['OrderWorkflow, keeps version 1 until it is published again'])
  expect(await violationsOf(page, undefined)).toEqual([])
  await page.getByRole('radiogroup', { name: 'Show the changes' }).getByText('JSON').click()
  await expect(page.getByRole('textbox', { name: 'Changes from version 1 to 2' })).toBeVisible()
})

test('two versions of an agent are side by side on a phone too, with tools by name', async ({
  page,
  workspace: { ctx, slug },
}) => {
  const tool = await createTool(ctx, { name: 'Refund', description: '', kind: 'script', config: { code: 'return 1' } })
  await publishTool(ctx, { id: tool.id })
  const { id } = await createAgent(ctx, {
    name: 'Ticket reader',
    instructions: 'Say in one sentence what the customer wants.\nNever promise anything.',
    model: { provider: 'scripted', modelId: 'scripted', settings: {} },
  } as never)
  await publishAgent(ctx, { id })
  await updateAgent(ctx, {
    id,
    body: {
      instructions: 'Say in two sentences what the customer wants.\nNever promise anything.',
      tools: [{ toolId: tool.id, version: 'published', approval: 'always' }],
      limits: { day: { cost: 20 } },
    },
  })
  await publishAgent(ctx, { id })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${slug}/agents/${id}?tab=versions`)
  const values = page.getByRole('table', { name: 'Fields that differ' })
  await expect(values.getByRole('row').last()).toHaveText('US dollars a dayNo limit20')
  // On a phone, one below the other.
  await expect(page.getByRole('textbox', { name: 'Instructions' })).toContainText('in two sentences')
  await expect(page.getByRole('table', { name: 'Tools' }).getByRole('row').last()).toHaveText(
    'RefundAddedNot thereThe published version, always needs approval',
  )
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390)
  expect(await violationsOf(page, undefined)).toEqual([])
})
