import { newCompany } from './support/company'
import { expect, test } from './support/fixture'
import { furnish } from './support/furnish'
import { reached, startRun } from './support/runs'

/** Outside of workspaces. */
const HEALTH = '/health'
const WIDTHS = [360, 390, 600, 768, 900, 1024, 1152, 1280, 1440, 1920]

test('no screen scrolls sideways or cuts off a column, from 360 to 1920 px', async ({ page, workspace }) => {
  test.slow()
  const { approval, failed, completed, stock, agent } = await furnish(workspace)
  const runId = await startRun(workspace, approval, { customer: 'A'.repeat(180) })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  const screens = ['', '/workflows', '/runs', `/runs/${failed}`, `/runs/${completed}`, `/runs/${runId}`, '/inbox']
  const task = `/inbox?task=${encodeURIComponent(`${runId}:main:order#1`)}`
  for (const screen of [
    ...screens,
    '/agents',
    '/tools',
    `/tools/${stock}?tab=test`,
    '/settings/members',
    '/settings/vault',
    '/insights',
    `/workflows/${approval}`,
    `/workflows/${approval}/insights`,
    `/agents/${agent}`,
    task,
    '/settings/audit',
    HEALTH,
  ]) {
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.goto(screen === HEALTH ? HEALTH : `/${workspace.slug}${screen}`)
    await page.waitForFunction(() => !document.querySelector('.mantine-Skeleton-root'))
    for (const width of WIDTHS) {
      await page.setViewportSize({ width, height: 900 })
      const out = await page.evaluate(() => {
        const beyond = [...document.querySelectorAll('main table, main section, main td, main header')]
          // Not what only screen readers meet, nor what is in a box that scrolls by itself.
          .filter((element) => !element.closest('.visually-hidden, section[tabindex="0"]'))
          .filter((element) => element.getBoundingClientRect().right > window.innerWidth + 1)
          .map((element) => `${element.tagName} ${element.className} ${element.textContent?.slice(0, 40)}`)
        const sideways = document.documentElement.scrollWidth - window.innerWidth
        return [...(sideways > 0 ? [`scrolls by ${sideways}`] : []), ...beyond.slice(0, 3)]
      })
      expect.soft(out, `${screen || 'home'} at ${width}`).toEqual([])
    }
  }
})

interface Shift extends PerformanceEntry {
  value: number
  hadRecentInput: boolean
  sources: { node: Node | null; previousRect: DOMRectReadOnly; currentRect: DOMRectReadOnly }[]
}
interface Moved {
  by: number
  what: string[]
}

test('nothing moves while a screen loads', async ({ page, workspace }) => {
  test.slow()
  const { approval, completed, asking, deciding, failed, stock, agent } = await furnish(workspace)
  await page.addInitScript(() => {
    const moved = { by: 0, what: [] as string[] }
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as Shift[]) {
        if (entry.hadRecentInput) continue
        moved.by += entry.value
        for (const { node, previousRect, currentRect } of entry.sources)
          moved.what.push(
            `${node?.nodeName} "${node?.textContent?.slice(0, 40)}" from ${previousRect.y}+${previousRect.height} to ${currentRect.y}+${currentRect.height}`,
          )
      }
    }).observe({ type: 'layout-shift', buffered: true })
    Object.assign(window, { moved })
  })
  const task = `/inbox?task=${encodeURIComponent(`${deciding}:main:decision#1`)}`
  const runs = [completed, asking, deciding, failed].map((runId) => `/runs/${runId}`)
  const screens = ['', '/runs', ...runs, '/inbox', `/tools/${stock}`, `/workflows/${approval}`, '/insights']
  for (const width of [1440, 390]) {
    await page.setViewportSize({ width, height: 900 })
    for (const screen of [
      ...screens,
      ...['/workflows', `/workflows/${approval}/insights`, '/agents', '/tools', '/settings/members', '/settings/vault'],
      `/agents/${agent}`,
      `/agents/${agent}?tab=compare`,
      task,
      '/settings/audit',
      HEALTH,
    ]) {
      await page.goto(screen === HEALTH ? HEALTH : `/${workspace.slug}${screen}`)
      await page.waitForFunction(() => !document.querySelector('.mantine-Skeleton-root'))
      await page.waitForTimeout(500)
      const { by, what } = await page.evaluate(() => (window as unknown as { moved: Moved }).moved)
      expect.soft(by, `${screen || 'home'} at ${width}: ${what.join(', ')}`).toBeLessThanOrEqual(0.02)
    }
  }
})

test('on a phone every place is reachable, and keys are not hinted at', async ({ page, workspace }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`/${workspace.slug}`)
  for (const place of ['Agents', 'Tools', 'Settings']) {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: place }).click()
    await expect(page).toHaveURL(new RegExp(`/${place.toLowerCase()}`))
  }
  const { approval } = await newCompany(workspace.ctx)
  const runId = await startRun(workspace, approval, { customer: 'Okafor' })
  await reached(workspace, runId, ({ status }) => status === 'paused')
  await page.goto(`/${workspace.slug}/runs/${runId}`)
  await expect(page.getByRole('button', { name: 'Submit' })).toBeVisible()
  await expect(page.locator('kbd:visible')).toHaveCount(0)
})

test('what does not exist answers 404 in one frame, and is not offered a second try', async ({ page, workspace }) => {
  for (const link of ['/r/run_NONE', '/w/wf_none', '/task/run_NONE/step', '/no-such-place']) {
    const answer = await page.goto(link)
    expect(answer?.status(), link).toBe(404)
    await expect(page.getByRole('heading', { level: 1 })).toHaveCount(1)
    await expect(page.getByRole('main')).toHaveCount(1)
  }
  const nowhere = await page.goto(`/${workspace.slug}/no-such-page`)
  expect(nowhere?.status()).toBe(404)
  await expect(page.getByRole('navigation', { name: 'Main' })).toBeVisible()
  for (const gone of ['/workflows/wf_none', '/runs/run_NONE', '/tools/tool_none', '/inbox?task=run_NONE:main:a%231']) {
    await page.goto(`/${workspace.slug}${gone}`)
    await expect(page.getByRole('main')).toContainText(/not found|does not exist/i)
    await expect(page.getByRole('button', { name: 'Try again' })).toHaveCount(0)
  }
})
