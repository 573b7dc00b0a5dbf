import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { reached, startRun } from './support/runs'
import type { Workspace } from './support/workspace'

async function newLink({ apiKey, tenantId }: Workspace, runId: string, body: object = {}): Promise<string> {
  const response = await fetch(`${process.env.BASE_URL}/api/workflow/task-links/${runId}`, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'x-tenant-id': tenantId, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  expect(response.status).toBe(201)
  const { url } = (await response.json()) as { url: string }
  return `/task${new URL(url).hash}`
}

test('a task link opened by a mail scanner (GET, HEAD, prefetch) decides nothing', async ({ browserOf, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const address = await newLink(workspace, runId)
  const token = address.slice(address.indexOf('#') + 1)
  const guest = await browserOf('nobody')
  const base = process.env.BASE_URL ?? ''
  for (const headers of [
    { 'user-agent': 'Mail Scanner/1.0' },
    { 'sec-purpose': 'prefetch;prerender', purpose: 'prefetch' },
    { 'next-router-prefetch': '1', rsc: '1' },
  ]) {
    for (const method of ['GET', 'HEAD']) {
      // Some scanners move the part after the # into the address.
      for (const path of [address, `/task?${token}`, `/task/${token}`, `/task?token=${token}`]) {
        const response = await fetch(`${base}${path}`, { method, headers })
        expect(response.headers.get('referrer-policy')).toBe('no-referrer')
        expect(await response.text()).not.toContain('Okafor')
      }
      const input = encodeURIComponent(JSON.stringify({ token, data: { article: 'AX-210', amount: 4 } }))
      const read = await fetch(`${base}/api/trpc/auth.answerTaskLink?input=${input}`, { method, headers })
      expect([403, 405]).toContain(read.status)
    }
  }
  // One that runs the page's scripts.
  await guest.goto(address)
  await expect(guest.getByRole('heading', { level: 1 })).toContainText('order')
  await reached(workspace, runId, ({ status }) => status === 'paused')

  await guest.getByLabel(/^Article/).fill('AX-210')
  await guest.getByLabel(/^Quantity/).fill('4')
  await guest.getByRole('button', { name: 'Submit' }).click()
  await expect(guest.getByRole('heading', { level: 1 })).toHaveText('Your answer is recorded')
  await reached(workspace, runId, ({ currentStepId }) => currentStepId === 'decision')
})

test('a person without an account decides on a phone, and gets a receipt', async ({ page, browserOf, workspace }) => {
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Rossi' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/inbox`)
  await page.getByRole('button', { name: /The order.*Rossi/ }).click()
  await page.getByLabel(/^Article/).fill('AX-210')
  await page.getByLabel(/^Quantity/).fill('4')
  await page.getByRole('button', { name: 'Submit' }).click()
  await page.getByRole('button', { name: /Order of AX-210.*Rossi/ }).click()
  await page.getByRole('button', { name: 'Share a link' }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByLabel('Works for', { exact: true }).fill('1')
  await dialog.getByRole('button', { name: 'Make a link' }).click()
  const shown = await dialog.getByRole('region', { name: 'The link' }).or(dialog.locator('pre')).first().textContent()
  const address = /\/task#[\w.-]+/.exec(shown ?? '')?.[0] ?? ''
  await expect(dialog.getByText(/Made by Ada Lovelace/)).toBeVisible()

  const guest = await browserOf('nobody')
  await guest.setViewportSize({ width: 390, height: 844 })
  await guest.goto(address)
  await expect(guest.getByText('Ada Lovelace · Northwind Supply')).toBeVisible()
  await expect(guest.getByRole('heading', { level: 1 })).toHaveText(/Order of AX-210/)
  await guest.getByRole('button', { name: 'Reject' }).click()
  const heading = guest.getByRole('heading', { level: 1 })
  await expect(heading).toHaveText('Your answer is recorded')
  await expect(heading).toBeFocused()
  await guest.reload()
  await expect(heading).toHaveText('Your answer is recorded')
  await expect(guest.getByText('Reject')).toBeVisible()
  await reached(workspace, runId, ({ endTime }) => endTime !== undefined)
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByRole('region', { name: 'Answers' })).toContainText('by a link made by Ada Lovelace')
})
