import { newCompany } from './support/company'
import { expect, test } from './support/fixture'

test('a call is found by its workflow, tried after a question, and answered as a program is', async ({
  page,
  workspace,
}) => {
  const { slug } = workspace
  await newCompany(workspace.ctx)
  await page.goto(`/${slug}/reference`)
  await page.keyboard.press('/')
  const search = page.getByRole('searchbox', { name: 'Search the reference' })
  await expect(search).toBeFocused()
  await search.fill('runs list')
  const list = page.getByRole('navigation', { name: 'Calls' })
  await expect(list.getByRole('button').first()).toHaveText(/List runs/)
  await list.getByRole('button').first().click()
  await page.getByRole('button', { name: 'Try it' }).click()
  const form = page.getByRole('region', { name: /^Try / })
  await form.getByLabel('limit').fill('1')
  await form.getByRole('button', { name: 'Send' }).click()
  await expect(form.getByText(/HTTP 200/)).toBeVisible()
  await expect(form.getByText(/api\/workflow\/runs\?limit=1/)).toBeVisible()

  await search.fill('create an agent')
  await expect(list.getByRole('button').first()).toHaveText(/Create an agent/)
  await list.getByRole('button').first().click()
  await page.getByRole('button', { name: 'Try it' }).click()
  const creating = page.getByRole('region', { name: /^Try / })
  await creating.getByText('Headers').click()
  await creating.getByLabel('Idempotency-Key').fill('once')
  await expect(creating.getByText(/idempotency-key: once/)).toBeVisible()
  await creating.getByRole('button', { name: 'Send' }).click()
  const question = page.getByRole('alertdialog', { name: 'Send this call?' })
  await question.getByRole('button', { name: 'Cancel' }).click()
  await expect(creating.getByText(/HTTP \d/)).toHaveCount(0)
  await creating.getByRole('button', { name: 'Send' }).click()
  await question.getByRole('button', { name: 'Send it' }).click()
  await expect(creating.getByText(/HTTP 201/)).toBeVisible()

  await search.fill('startWorkflow')
  await list.getByRole('button', { name: /Start/ }).first().click()
  await page.getByRole('button', { name: 'Try it' }).first().click()
  const starting = page.getByRole('region', { name: /^Try / })
  const file = { name: 'note.txt', mimeType: 'text/plain', buffer: Buffer.from('hello') }
  await starting.locator('input[type=file]').setInputFiles(file)
  await expect(starting.getByText(/-F 'attachment=@note.txt'|-F attachment=@note.txt/)).toBeVisible()

  await page.goto('/reference')
  await page.getByRole('link', { name: 'the reference of their workspace' }).click()
  await expect(page.getByRole('heading', { name: 'Choose a call' })).toBeVisible()
})

test('the pages that anybody may read have one header', async ({ page }) => {
  for (const address of ['/reference', '/errors', '/health']) {
    await page.goto(address)
    const header = page.getByRole('banner')
    await expect(header.getByRole('link')).toHaveText(['Millrace', 'Error codes', 'Health', 'API reference'])
  }
})
