import { createHmac } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { SignJWT } from 'jose'
import { createWorkflow } from '@/server/workflows/lifecycle'
import { expect, test } from './support/fixture'
import { shownValue, statusWith } from './support/keys'

test('a key is created, used, rotated and disabled', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/settings/api-keys`)
  await page.getByRole('button', { name: 'New key' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Billing')
  await page.getByRole('dialog').getByRole('button', { name: 'Create key' }).click()
  const key = await shownValue(page, /sk_[\w-]{20,}/)
  expect(await statusWith(page, workspace, key)).toBe(200)
  await expect(page.locator('body')).not.toContainText(key)

  const row = page.getByRole('row').filter({ hasText: 'Billing' })
  await row.getByRole('button', { name: /^Actions for Billing/ }).click()
  await page.getByRole('menuitem', { name: 'Rotate' }).click()
  await page.getByRole('dialog').getByLabel('Not at all').check()
  await page.getByRole('dialog').getByRole('button', { name: 'Rotate' }).click()
  const heir = await shownValue(page, /sk_[\w-]{20,}/)
  expect(heir).not.toBe(key)
  expect([await statusWith(page, workspace, key), await statusWith(page, workspace, heir)]).toEqual([401, 200])

  await row
    .getByRole('button', { name: /^Actions for Billing/ })
    .first()
    .click()
  await page.getByRole('menuitem', { name: 'Disable' }).click()
  await expect.poll(() => statusWith(page, workspace, heir)).toBe(401)
})

test('people’s changes are in the audit log, found by a link and downloaded', async ({
  page,
  workspace,
  browserOf,
}) => {
  await page.goto(`/${workspace.slug}/settings/workspace`)
  await page.getByLabel('Name', { exact: true }).fill('Northwind')
  await page.getByRole('button', { name: 'Save name' }).click()
  await expect(page.getByText('The workspace was renamed.')).toBeVisible()

  await page.goto(`/${workspace.slug}/settings/audit`)
  const first = page.getByRole('row').nth(1)
  await expect(first).toContainText('Workspace renamed')
  await expect(first).toContainText('Northwind')
  await expect(first.getByRole('deletion')).not.toBeEmpty()

  await page.getByRole('combobox', { name: 'Action' }).click()
  await page.getByRole('option', { name: 'Workspace renamed' }).click()
  await expect(page).toHaveURL(/action=workspace\.renamed/)
  await expect(page.getByRole('row')).toHaveCount(2)
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download CSV' }).click(),
  ])
  expect(file.suggestedFilename()).toMatch(/^audit-log-.*\.csv$/)
  const csv = readFileSync(await file.path(), 'utf8')
    .trim()
    .split('\r\n')
  expect(csv).toHaveLength(2)
  expect(csv[1]).toContain('workspace.renamed')

  const admin = await browserOf('admin')
  await admin.goto(page.url())
  await expect(admin.getByRole('row')).toHaveCount(2)
  const editor = await browserOf('editor')
  await editor.goto(page.url())
  await expect(editor.getByText('Only admins and owners see this')).toBeVisible()
})

test('an editor on a page for admins reads whom to ask, and nothing is requested that the server refuses', async ({
  workspace,
  browserOf,
}) => {
  const editor = await browserOf('editor')
  const refused: string[] = []
  editor.on('response', (response) => {
    if (response.status() === 403) refused.push(response.url())
  })
  for (const part of ['api-keys', 'signing-secrets', 'vault', 'webhooks', 'workspace', 'audit']) {
    await editor.goto(`/${workspace.slug}/settings/${part}`)
    await expect(editor.getByText('Only admins and owners see this')).toBeVisible()
    await expect(editor.getByText('Your role is editor.')).toBeVisible()
    await expect(editor.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  }
  await editor.goto(`/${workspace.slug}/settings/members`)
  await expect(editor.getByText('Admins and owners manage the members.')).toBeVisible()
  expect(refused).toEqual([])
})

test('a vault secret is never shown again', async ({ page, workspace }) => {
  const value = 'a-value-that-nobody-sees-again'
  await page.goto(`/${workspace.slug}/settings/vault`)
  await page
    .getByRole('button', { name: /add|set|new/i })
    .first()
    .click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Name').fill('PARTNER_TOKEN')
  await dialog.getByRole('textbox', { name: 'Value' }).fill(value)
  await dialog.getByRole('button', { name: 'Create secret' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'PARTNER_TOKEN' })).toBeVisible()
  const seen: string[] = []
  page.on('response', async (response) => seen.push(await response.text().catch(() => '')))
  await page.reload()
  await expect(page.getByRole('row').filter({ hasText: 'PARTNER_TOKEN' })).toBeVisible()
  expect(seen.length).toBeGreaterThan(0)
  expect([...seen, await page.content()].filter((text) => text.includes(value))).toEqual([])
})

test('a webhook is created, its secret shown once, and a test that cannot be delivered says why', async ({
  page,
  workspace,
}) => {
  await page.goto(`/${workspace.slug}/settings/webhooks`)
  await page.getByRole('button', { name: 'New webhook' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Address').fill('ftp://hooks')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  await expect(dialog).toContainText('must be an http or https URL')
  await dialog.getByLabel('Address').fill('http://127.0.0.1:9/hooks')
  await dialog.getByRole('button', { name: 'Create webhook' }).click()
  const secret = await shownValue(page, /whsec_[A-Za-z0-9+/=]{40,}/)
  await expect(page.locator('body')).not.toContainText(secret)
  const row = page.getByRole('row').filter({ hasText: 'http://127.0.0.1:9/hooks' })
  await row.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Send test' }).click()
  const delivery = page.getByRole('row').filter({ hasText: 'A test' })
  await expect(delivery).toContainText('Retrying')
  await expect(delivery).toContainText('1 attempt')
  await expect(row).toContainText('Failing')
  await delivery.getByRole('button', { name: 'Redeliver' }).click()
  await expect(delivery).toContainText('2 attempts')
  await delivery.getByRole('button', { name: 'Show body' }).click()
  await expect(delivery).toContainText('"type":"webhook.test"')
})

test('a schedule shows its next times as it is written, and is paused and resumed', async ({ page, workspace }) => {
  const steps = [{ id: 'end', type: 'end-flow' }]
  await createWorkflow(workspace.ctx, { name: 'Report', payload: { region: { type: 'string' } }, steps })
  await page.goto(`/${workspace.slug}/schedules`)
  await page.getByRole('button', { name: 'New schedule' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Workflow').selectOption({ label: 'Report' })
  await dialog.getByLabel('Name').fill('Every morning')
  await expect(dialog.getByLabel('Starts')).toHaveValue('weekday')
  await dialog.getByLabel(/^At\b/).fill('07:15')
  await expect(dialog).toContainText('Mon–Fri at 07:15')
  await dialog.getByLabel('Starts').selectOption('chosen')
  await dialog.getByLabel('Monday').press('Space')
  await expect(dialog).toContainText('Choose at least one day.')
  await dialog.getByLabel('Sunday').press('Space')
  await expect(dialog).toContainText('Every Sunday at 07:15')
  await dialog.getByRole('button', { name: 'Advanced: write a cron' }).click()
  await expect(dialog.getByLabel('Cron')).toHaveValue('15 7 * * sun')
  await dialog.getByLabel('Cron').fill('99 9 * * *')
  await expect(dialog).toContainText('has a minute that cannot be read')
  const create = dialog.getByRole('button', { name: 'Create schedule' })
  await expect(create).toBeDisabled()
  await dialog.getByLabel('Cron').fill('30 9 * * *')
  const zone = dialog.getByRole('combobox', { name: 'Time zone' })
  await zone.fill('Asia/Kolkata')
  await zone.press('Tab')
  await expect(dialog.locator('time')).toHaveCount(5)
  await expect(dialog.locator('time').first()).toHaveAttribute('datetime', /T04:00:00/)
  await expect(dialog.locator('time').first()).toContainText('09:30')
  await expect(dialog).toContainText('Every day at 09:30, Asia/Kolkata')
  await create.click()
  await expect(dialog).toContainText('Required')
  await dialog.getByLabel('region').fill('north')
  await create.click()
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: 'Every morning' })
  await expect(row).toContainText('Every day at 09:30, Asia/Kolkata')
  await expect(row.locator('time')).toHaveCount(5)
  for (const [verb, left] of [
    ['Pause', 0],
    ['Resume', 5],
  ] as const) {
    await row.getByRole('button', { name: 'Actions for Every morning' }).click()
    await page.getByRole('menuitem', { name: verb }).click()
    await expect(row.locator('time')).toHaveCount(left)
  }
})

test('a secret is flagged until it is bound to hosts, and a short value is refused', async ({ page, workspace }) => {
  await page.goto(`/${workspace.slug}/settings/vault`)
  await page.getByRole('button', { name: 'New secret' }).first().click()
  const dialog = page.getByRole('dialog')
  const save = dialog.getByRole('button', { name: 'Create secret' })
  await dialog.getByLabel('Name').fill('PARTNER_TOKEN')
  await dialog.getByRole('textbox', { name: 'Value' }).fill('elevenchars')
  await save.click()
  await expect(dialog).toContainText('Must have at least 12 characters')
  await dialog.getByRole('textbox', { name: 'Value' }).fill('a-value-of-some-length')
  await save.click()
  const row = page.getByRole('row').filter({ hasText: 'PARTNER_TOKEN' })
  await expect(row).toContainText('Not bound to hosts')
  await row.getByRole('button', { name: /^Actions for/ }).click()
  await page.getByRole('menuitem', { name: 'Bind to hosts' }).click()
  const hosts = dialog.getByLabel('Hosts', { exact: true }).first()
  await hosts.fill('https://api.example.com')
  await hosts.press('Enter')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(dialog).toContainText('https://api.example.com must be a host')
  await hosts.press('Backspace')
  await hosts.fill('*.Example.com')
  await hosts.press('Enter')
  await dialog.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(row).toContainText('*.example.com')
  await expect(page.getByText('not bound to hosts')).toHaveCount(0)
})

test('a signing secret is created, and the page shows whether a call with a token would be accepted', async ({
  page,
  workspace,
}) => {
  await page.goto(`/${workspace.slug}/settings/signing-secrets`)
  await page.getByRole('button', { name: 'New secret' }).first().click()
  await page.getByRole('dialog').getByLabel('Name').fill('Customer portal')
  await page.getByRole('dialog').getByRole('button', { name: 'Create secret' }).click()
  const lines = await shownValue(page, /JWT_KEY_ID=\S+\s+JWT_SECRET=\S+\s+JWT_AUDIENCE=\S+/)
  const [kid = '', secret = '', audience = ''] = lines.split(/\s+/).map((line) => line.replace(/^\w+=/, ''))
  const mint = (aud: string) =>
    new SignJWT({})
      .setProtectedHeader({ alg: 'HS256', kid })
      .setSubject('okafor')
      .setAudience(aud)
      .setIssuedAt()
      .setExpirationTime('5m')
      .sign(new TextEncoder().encode(secret))
  const callWith = async (token: string) =>
    (await page.request.get('/api/workflows', { headers: { authorization: `Bearer ${token}` } })).status()
  for (const [aud, told, status] of [
    [audience, 'A call would be accepted', 200],
    ['somebody-else', 'A call would get 401', 401],
  ] as const) {
    const token = await mint(aud)
    await page.getByLabel('Token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Check token' }).click()
    await expect(page.getByText(told)).toBeVisible()
    expect(await callWith(token)).toBe(status)
  }
  await expect(page.locator('body')).not.toContainText(secret)
})

test('an inbound webhook is created, tried, receives a delivery and redelivers it', async ({
  page,
  workspace,
  request,
}) => {
  const payload = { title: { type: 'string' }, number: { type: 'integer' } }
  await createWorkflow(workspace.ctx, { name: 'Issues', payload, steps: [{ id: 'end', type: 'end-flow' }] })
  await page.goto(`/${workspace.slug}/inbound-webhooks`)
  await page.getByRole('button', { name: 'New inbound webhook' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Workflow').selectOption({ label: 'Issues' })
  await dialog.getByLabel('Name').fill('Opened issues')
  await dialog.getByLabel('How the sender signs').selectOption('none')
  await expect(dialog).toContainText('Anybody who knows the address can start runs')
  await dialog.getByLabel('How the sender signs').selectOption('github')
  await dialog.getByRole('textbox', { name: 'title' }).fill('${payload.title}')
  await dialog.getByRole('textbox', { name: 'Only if' }).fill('${body.action} == "opened"')
  const create = dialog.getByRole('button', { name: 'Create inbound webhook' })
  await create.click()
  await expect(dialog).toContainText('uses ${payload.title}')
  await dialog.getByRole('textbox', { name: 'title' }).fill('${body.issue.title}')
  await create.click()
  const secret = await dialog.getByRole('region', { name: 'The secret' }).innerText()
  await dialog.getByRole('button', { name: 'I have stored it' }).click()
  const row = page.getByRole('row').filter({ hasText: 'Opened issues' })
  const shown = row.locator('code')
  await expect(shown).toHaveText(/\/api\/hooks\/[\w-]{4}…[\w-]{4}$/)
  const address = (await shown.getAttribute('title')) ?? ''

  await row.getByRole('button', { name: 'Actions for Opened issues' }).click()
  await page.getByRole('menuitem', { name: 'Try a delivery' }).click()
  const body = { action: 'opened', number: 7, issue: { title: 'It drips' } }
  await dialog.getByLabel('Body').fill(JSON.stringify({ ...body, number: 'seven' }))
  await dialog.getByRole('button', { name: 'Try' }).click()
  await expect(dialog).toContainText('number must be an integer')
  await dialog.getByLabel('Body').fill(JSON.stringify(body))
  await dialog.getByRole('button', { name: 'Try' }).click()
  await expect(dialog.getByRole('region', { name: 'START fields' })).toContainText('"title": "It drips"')
  await dialog.getByRole('button', { name: 'Close' }).last().click()

  const data = JSON.stringify(body)
  const signature = `sha256=${createHmac('sha256', secret.trim()).update(data).digest('hex')}`
  const headers = { 'content-type': 'application/json', 'x-hub-signature-256': signature, 'x-github-delivery': 'one' }
  expect((await request.post(address, { data, headers })).status()).toBe(202)
  expect((await request.post(address, { data, headers })).status()).toBe(200)
  const deliveries = page.getByRole('region', { name: 'Deliveries to Opened issues' }).locator('tbody tr')
  await expect(deliveries).toHaveCount(1)
  await deliveries.getByRole('button', { name: 'Show' }).click()
  await expect(deliveries).toContainText('x-github-delivery: one')
  await deliveries.getByRole('button', { name: 'Redeliver' }).click()
  await expect(deliveries).toHaveCount(2)
  await expect(deliveries.first()).toContainText('Redelivered')
  await expect(deliveries.first().getByRole('link')).toHaveText(/^Issues run_/)
  const opener = row.getByRole('button', { name: 'Opened issues', exact: true })
  await page.getByRole('combobox', { name: 'Status of the deliveries' }).selectOption({ label: 'Filtered' })
  await expect(page.getByText('None is “Filtered” now.')).toBeVisible()
  await page.getByRole('button', { name: 'Close the list' }).click()
  await expect(deliveries).toHaveCount(0)
  await expect(opener).toBeFocused()
  await expect(opener).toHaveAttribute('aria-expanded', 'false')
})

test('a schedule’s START fields are filled in by rows, without a file, or as JSON', async ({ page, workspace }) => {
  const payload = {
    region: { type: 'string' },
    tags: { type: 'array', required: false },
    paper: { type: 'file', required: false },
  }
  const steps = [{ id: 'end', type: 'end-flow' }]
  await createWorkflow(workspace.ctx, { name: 'Digest', payload, steps })
  await page.goto(`/${workspace.slug}/schedules`)
  await page.getByRole('button', { name: 'New schedule' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Workflow').selectOption({ label: 'Digest' })
  await dialog.getByLabel('Name').fill('Every evening')
  await expect(dialog).toContainText('A schedule cannot send a file.')
  const create = dialog.getByRole('button', { name: 'Create schedule' })
  await create.click()
  await expect(dialog).toContainText('Required')
  await dialog.getByLabel('region').fill('north')
  await dialog.getByRole('button', { name: 'Add to tags' }).click()
  await dialog.getByLabel(/^tags 1 any/).fill('daily')
  await dialog.getByRole('button', { name: 'Enter all fields as JSON' }).click()
  const json = dialog.getByRole('textbox', { name: 'START fields' })
  await expect(json).toHaveValue(/"region": "north"/)
  await expect(json).toHaveValue(/"daily"/)
  await json.fill('{ "region": 7 }')
  await create.click()
  await expect(dialog).toContainText('region: Must be a string')
  await json.fill('{ "region": "south", "tags": ["daily"] }')
  await create.click()
  await expect(dialog).toBeHidden()
  const row = page.getByRole('row').filter({ hasText: 'Every evening' })
  const edit = async () => {
    await row.getByRole('button', { name: 'Actions for Every evening' }).click()
    await page.getByRole('menuitem', { name: 'Edit' }).click()
  }
  await edit()
  await expect(dialog.getByLabel('region')).toHaveValue('south')
  await dialog.getByLabel('region').fill('west')
  // However slow the list is, the next dialog has the saved values.
  await page.route(/schedules\.list/, async (route) => {
    await sleep(1_000)
    await route.continue()
  })
  await dialog.getByRole('button', { name: 'Save' }).click()
  await expect(dialog).toBeHidden()
  await edit()
  await expect(dialog.getByLabel('region')).toHaveValue('west')
  await expect(dialog.getByLabel(/^tags 1 any/)).toHaveValue('daily')
})

test('the expressions of an inbound webhook are chosen from a delivery’s values', async ({ page, workspace }) => {
  const payload = { title: { type: 'string' } }
  await createWorkflow(workspace.ctx, { name: 'Bugs', payload, steps: [{ id: 'end', type: 'end-flow' }] })
  await page.goto(`/${workspace.slug}/inbound-webhooks`)
  await page.getByRole('button', { name: 'New inbound webhook' }).first().click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Workflow').selectOption({ label: 'Bugs' })
  await dialog.getByRole('button', { name: 'Insert a value into title' }).click()
  await page.getByRole('option', { name: /^\$\{body\.title\}/ }).click()
  await expect(dialog.getByRole('textbox', { name: 'title' })).toHaveValue('${body.title}')
})
