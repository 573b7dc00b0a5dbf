import { newCompany } from './support/company'
import { expect, test } from './support/fixture'

test('an agent answers in the playground with data that fits its schema, and goes on with the thread', async ({
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

test('a tool is tried, and shows the answer as HTTP gives it', async ({ page, workspace }) => {
  const { stock, declined } = await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/tools/${stock}?tab=test`)
  await page.getByRole('button', { name: /^Run/ }).first().click()
  await expect(page.getByText('executionTime').first()).toBeVisible({ timeout: 20_000 })
  await page.goto(`/${workspace.slug}/tools/${declined}?tab=test`)
  await page.getByRole('button', { name: /^Run/ }).first().click()
  await expect(page.getByText('the card has expired').first()).toBeVisible({ timeout: 20_000 })
})
