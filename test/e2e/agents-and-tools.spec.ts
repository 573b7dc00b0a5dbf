import { getAgent } from '@/server/agents/get'
import { createTool } from '@/server/tools/create'
import { getTool } from '@/server/tools/get'
import { updateTool } from '@/server/tools/update'
import { startMcpServer } from '@/test/support/mcp-server'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'

test('an agent answers in the playground with data that matches its schema, and the thread continues', async ({
  page,
  workspace,
}) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}?tab=playground`)
  const message = page.getByRole('textbox', { name: /message/i }).first()
  for (const text of ['Where is my order N-20417?', 'And the one before?']) {
    await message.fill(text)
    await message.press('ControlOrMeta+Enter')
    await expect(page.getByText(text).first()).toBeVisible()
    await expect(message).toHaveValue('')
    await expect(page.getByText('summary').first()).toBeVisible({ timeout: 20_000 })
  }
  await page.reload()
  await expect(page.getByText('Where is my order N-20417?').first()).toBeVisible()
})

test('a tool can be tested and shows the HTTP answer', async ({ page, workspace }) => {
  const { stock, declined } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/tools/${stock}?tab=test`)
  await page.getByRole('button', { name: /^Run/ }).first().click()
  await expect(page.getByText('executionTime').first()).toBeVisible({ timeout: 20_000 })
  await page.goto(`/${workspace.slug}/tools/${declined}?tab=test`)
  await page.getByRole('button', { name: /^Run/ }).first().click()
  await expect(page.getByText('the card has expired').first()).toBeVisible({ timeout: 20_000 })
})

test('an agent can be changed, saved, published and restored', async ({ page, workspace }) => {
  const { agent } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/agents/${agent}`)
  const description = page.getByLabel('Description', { exact: true })
  const before = await description.inputValue()
  await description.fill('Thrown away')
  await page.getByRole('button', { name: 'Discard' }).click()
  await expect(description).toHaveValue(before)
  await description.fill('Answers in one sentence.')
  await page.keyboard.press('ControlOrMeta+s')
  await page.getByRole('button', { name: 'Publish version 2' }).click()
  const dialog = page.getByRole('dialog')
  await expect(dialog.getByText('Answers in one sentence.').first()).toBeVisible()
  await dialog.getByRole('button', { name: 'Publish version 2' }).click()
  await expect(page.getByText('Version 2 is published.')).toBeVisible()
  await page.getByRole('tab', { name: 'Versions' }).click()
  await page.getByRole('button', { name: /^Version 1/ }).click()
  await page.getByRole('button', { name: 'Restore as a new version' }).click()
  await expect(page.getByText('Saved as version 3. It is not published yet.')).toBeVisible()
  await page.getByRole('tab', { name: 'Edit' }).click()
  await expect(description).toHaveValue(before)
  expect(await getAgent(workspace.ctx, { id: agent })).toMatchObject({
    version: 3,
    publishedVersion: 2,
    description: before,
  })
})

test('a tool saved by someone else is shown, and kept in its history', async ({ page, workspace }) => {
  const { stock } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/tools/${stock}`)
  const name = page.getByRole('textbox', { name: 'Name', exact: true })
  await name.fill('Count the stock')
  await updateTool(workspace.ctx, { id: stock, body: { name: 'Look into the warehouse' } })
  await page.getByRole('button', { name: 'Save version 2' }).click()
  await expect(page.getByText('Version 2 was saved while you were editing')).toBeVisible()
  await expect(name).toHaveValue('Count the stock')
  expect(await getTool(workspace.ctx, { id: stock })).toMatchObject({ version: 2, name: 'Look into the warehouse' })
  await page.getByRole('button', { name: /^Keep my changes/ }).click()
  await page.getByRole('button', { name: 'Save version 3' }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Count the stock')
  await page.getByRole('tab', { name: 'Versions' }).click()
  await expect(page.getByRole('button', { name: /^Version 2/ })).toBeVisible()
})

test('the tools of an MCP server are listed, and one is chosen, saved and tested', async ({ page, workspace }) => {
  const server = await startMcpServer()
  try {
    const { remote } = await newCompany(workspace.ctx)
    await page.goto(`/${workspace.slug}/tools/${remote}`)
    await page.getByLabel('URL').fill(server.url)
    await page.getByRole('button', { name: 'List the server’s tools' }).click()
    await page.getByRole('radio', { name: /get-sum/ }).check()
    await expect(page.getByLabel('Tool on the server')).toHaveValue('get-sum')
    await page.getByRole('button', { name: /^Save version/ }).click()
    await expect(page.getByText('Unsaved changes')).toBeHidden()
    expect(await getTool(workspace.ctx, { id: remote })).toMatchObject({
      config: { toolName: 'get-sum' },
      inputSchema: { properties: { a: { type: 'number' } } },
    })
    await page.getByRole('tab', { name: 'Test' }).click()
    await page.getByLabel(/^a\b/).fill('20')
    await page.getByLabel(/^b\b/).fill('22')
    await page.getByRole('button', { name: /^Run/ }).first().click()
    await expect(page.getByText(/sum of 20 and 22 is 42/).first()).toBeVisible({ timeout: 20_000 })
  } finally {
    await server.stop()
  }
})

test('testing a tool tests what is on the screen', async ({ page, workspace }) => {
  const { id } = await createTool(workspace.ctx, {
    name: 'Answer',
    kind: 'script',
    config: { code: "return { said: 'old' }" },
  })
  await page.goto(`/${workspace.slug}/tools/${id}`)
  const code = page.getByRole('textbox', { name: 'Code' }).first()
  await code.click()
  await page.keyboard.press('Control+a')
  await page.keyboard.type("return { said: 'new' }")
  await page.getByRole('tab', { name: 'Test' }).click()
  await page.getByRole('button', { name: 'Save and run test' }).click()
  const answer = page.getByRole('region', { name: 'Answer' }).first()
  await expect(answer).toContainText('"new"')
  await expect(page.getByRole('button', { name: 'Run test' })).toBeVisible()
})
