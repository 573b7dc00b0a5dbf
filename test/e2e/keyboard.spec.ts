import { createWorkflow } from '@/server/workflows/lifecycle'
import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { longWorkflow } from './support/long-workflow'

test('the graph is a single Tab stop, however many steps it has', async ({ page, workspace }) => {
  const { stock } = await newCompany(workspace.ctx)
  const { id } = await createWorkflow(workspace.ctx, longWorkflow(20, stock))
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  await expect.poll(() => page.locator('.react-flow__node').count()).toBeGreaterThan(20)
  const stops = () =>
    page
      .locator(
        '.react-flow__renderer [tabindex="0"], .react-flow__renderer a, .react-flow__renderer button:not([tabindex="-1"])',
      )
      .count()
  await expect.poll(stops).toBe(1)
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? '')
  await page.locator('.react-flow__renderer [tabindex="0"]').focus()
  const first = await focused()
  await page.keyboard.press('ArrowDown')
  await expect.poll(focused).not.toBe(first)
  expect(await stops()).toBe(1)
})

test('a focused element shows its focus and is not covered', async ({ page, workspace }) => {
  await newCompany(workspace.ctx)
  for (const path of ['/workflows', '/runs', '/settings/api-keys']) {
    await page.goto(`/${workspace.slug}${path}`)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    for (let stop = 0; stop < 20; stop++) {
      await page.keyboard.press('Tab')
      const seen = await page.evaluate(() => {
        const element = document.activeElement
        if (!element || element === document.body) return null
        const { outlineStyle, outlineWidth, boxShadow, borderColor } = getComputedStyle(element)
        const { left, top, width, height } = element.getBoundingClientRect()
        const at = document.elementFromPoint(left + width / 2, top + Math.min(height / 2, 20))
        const shown = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none'
        const field = element.matches('input, select, textarea')
        return {
          what: `${element.tagName} ${element.getAttribute('aria-label') ?? element.textContent ?? ''}`.slice(0, 60),
          visible: shown || (field && borderColor !== ''),
          covered: at !== null && !element.contains(at) && !at.contains(element) && !field,
        }
      })
      if (seen === null) break
      expect.soft(seen, `${path}, stop ${stop + 1}`).toMatchObject({ visible: true, covered: false })
    }
  }
})

test('single-key shortcuts pause while typing and can be switched off', async ({ page, workspace }) => {
  await newCompany(workspace.ctx)
  await page.goto(`/${workspace.slug}/workflows`)
  await page.getByRole('heading', { level: 1 }).waitFor()
  // Keys work only after the page's script has loaded, which is not visible.
  await expect(async () => {
    if ((await page.locator('input:focus').count()) === 0) await page.keyboard.press('/')
    await expect(page.locator('input:focus')).toHaveCount(1, { timeout: 2_000 })
  }).toPass()
  await page.keyboard.type('c')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await page.evaluate(() => window.localStorage.setItem('millrace-single-keys', 'off'))
  await page.reload()
  await page.getByRole('heading', { level: 1 }).waitFor()
  await page.keyboard.press('c')
  await expect(page.getByRole('dialog')).toHaveCount(0)
})

test('text typed right after opening a dialog goes into that dialog', async ({ page, workspace }) => {
  const { id } = await createWorkflow(workspace.ctx, { name: 'Quick' })
  await page.goto(`/${workspace.slug}/workflows/${id}`)
  const search = page.getByRole('combobox', { name: 'Search step types' })
  await page.getByRole('button', { name: 'Add step', exact: true }).click()
  for (const type of ['collect-inputs', 'call-tool', 'call-agent']) {
    await expect(search).toBeFocused()
    await page.keyboard.type(type)
    await page.keyboard.press('Enter')
    // Immediately: the added step takes the focus only a moment later.
    await expect(async () => {
      if ((await search.count()) === 0) await page.keyboard.press('a')
      await expect(search).toBeFocused({ timeout: 2_000 })
    }).toPass()
  }
  await page.keyboard.type('end-flow', { delay: 30 })
  await expect(search).toHaveValue('end-flow')
  await page.keyboard.press('Enter')
  await expect(page.locator('.react-flow__node-step')).toHaveCount(4)
})
