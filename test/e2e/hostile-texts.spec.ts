import type { Page } from '@playwright/test'
import { sampled } from '../support/sample.mjs'
import { test as base, expect, loaded } from './support/fixture'
import { type Furnished, furnish } from './support/furnish'
import { PAYLOADS } from './support/payloads'
import { INSIDE } from './support/routes'
import { newTour, type Tour } from './support/tour'
import { newWorkspace, type Workspace } from './support/workspace'

const test = base.extend<object, { tour: Tour }>({ tour: [newTour, { scope: 'worker' }] })

const guards = new WeakMap<Page, ReturnType<typeof newGuard>>()

/**
 * Counts events that must never happen in a page: execution of a text as code, and violations of the security policy.
 */
function guard(page: Page): Promise<() => Promise<string[]>> {
  const known = guards.get(page) ?? newGuard(page)
  guards.set(page, known)
  return known
}

async function newGuard(page: Page): Promise<() => Promise<string[]>> {
  const seen: string[] = []
  page.on('dialog', async (dialog) => {
    seen.push(`a dialog said ${dialog.message()}`)
    await dialog.dismiss()
  })
  page.on('request', (request) => {
    if (!request.url().startsWith(process.env.BASE_URL ?? '') && /^https?:/.test(request.url()))
      seen.push(`asked ${request.url()}`)
  })
  await page.addInitScript(() => {
    const told: string[] = []
    Object.assign(window, { told, pwned: (what: string) => told.push(`ran ${what}`) })
    document.addEventListener('securitypolicyviolation', (event) => {
      told.push(`${event.violatedDirective} stopped ${event.blockedURI} ${event.sample}`)
    })
  })
  return async () => [...seen.splice(0), ...(await page.evaluate(() => (window as unknown as { told: string[] }).told))]
}

/** Elements and handlers that none of our pages have, so a text must have created them. */
function injected(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const made = document.querySelectorAll(
      'img[src="x"], iframe, object, embed, marquee, base, math, video, audio, [onerror], [onload], [onclick], [onfocus], [ontoggle], [onmouseover], [style*="expression"], a[href^="javascript:" i], a[href^="data:" i], form[action^="javascript:" i], svg script, [data-pwned]',
    )
    return [...made].map((element) => element.outerHTML.slice(0, 200))
  })
}

let furnished: Promise<{ workspace: Workspace; made: Furnished }> | undefined
/**
 * Shared by all tests of this process: an ordinary workspace in which each text ends with one of the payloads, in turn.
 */
function hostile() {
  furnished ??= newWorkspace().then(async (workspace) => {
    let next = 0
    const made = await furnish(workspace, (text) => `${text} ${PAYLOADS[next++ % PAYLOADS.length]}`)
    expect(next, 'texts, so that each payload is shown somewhere').toBeGreaterThan(PAYLOADS.length)
    return { workspace, made }
  })
  return furnished
}

test('there are enough payloads', () => {
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(50)
  expect(new Set(PAYLOADS).size).toBe(PAYLOADS.length)
})

for (const [path, seen] of sampled(Object.entries(INSIDE), 3)) {
  test(`user texts are shown as text on ${path}`, async ({ tour, trouble }) => {
    const { workspace, made } = await hostile()
    const { page } = tour
    await tour.begin(workspace, trouble)
    const happened = await guard(page)
    for (const address of seen(workspace.slug, made)) {
      await page.goto(address)
      await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
      await loaded(page)
      // By now, any code that runs by itself has run.
      await page.waitForTimeout(250)
      expect.soft(await injected(page), address).toEqual([])
      expect.soft(await happened(), address).toEqual([])
    }
  })
}

test('hostile names of files, queries and addresses are shown as text', async ({ page, workspace }) => {
  const happened = await guard(page)
  const lists = ['/workflows', '/runs']
  for (const [at, payload] of PAYLOADS.slice(0, 8).entries()) {
    // The lists take turns; with SOAK=1, both get every payload.
    for (const list of process.env.SOAK ? lists : [lists[at % 2]]) {
      const path = `${list}?q=${encodeURIComponent(payload)}`
      await page.goto(`/${workspace.slug}${path}`)
      await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
      expect.soft(await injected(page), path).toEqual([])
      expect.soft(await happened(), path).toEqual([])
    }
  }
  for (const path of [
    '/sign-in?error=%3Cimg%20src%3Dx%20onerror%3Dpwned(1)%3E',
    '/%3Cimg%20src%3Dx%20onerror%3Dpwned(1)%3E',
  ]) {
    await page.goto(path)
    expect.soft(await injected(page), path).toEqual([])
    expect.soft(await happened(), path).toEqual([])
  }
})
