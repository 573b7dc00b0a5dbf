import type { Page } from '@playwright/test'
import { expect, test } from './support/fixture'
import { type Furnished, furnish } from './support/furnish'
import { PAYLOADS } from './support/payloads'
import { INSIDE } from './support/routes'
import { signIn } from './support/workspace'

/** Counts what must never happen in a page: code of a text's own, and what the policy had to stop. */
async function guard(page: Page): Promise<() => Promise<string[]>> {
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
  return async () => [...seen, ...(await page.evaluate(() => (window as unknown as { told: string[] }).told))]
}

/** Elements and handlers that no page of ours has, so that a text must have made them. */
function injected(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const made = document.querySelectorAll(
      'img[src="x"], iframe, object, embed, marquee, base, math, video, audio, [onerror], [onload], [onclick], [onfocus], [ontoggle], [onmouseover], [style*="expression"], a[href^="javascript:" i], a[href^="data:" i], form[action^="javascript:" i], svg script, [data-pwned]',
    )
    return [...made].map((element) => element.outerHTML.slice(0, 200))
  })
}

test('texts of users are texts on every page', async ({ context, page, workspace }) => {
  test.setTimeout(120_000)
  expect(PAYLOADS.length).toBeGreaterThanOrEqual(50)
  let next = 0
  const used = new Set<string>()
  // Each text of an ordinary workspace with one of them behind it, in turn.
  const say = (text: string) => {
    const payload = PAYLOADS[next++ % PAYLOADS.length] ?? ''
    used.add(payload)
    return `${text} ${payload}`
  }
  const made: Furnished = await furnish(workspace, say)
  expect(used.size, 'payloads that are shown somewhere').toBe(PAYLOADS.length)
  await signIn(context, workspace.owner)
  const happened = await guard(page)
  for (const seen of Object.values(INSIDE)) {
    for (const address of seen(workspace.slug, made)) {
      await page.goto(address)
      await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
      await page.waitForLoadState('networkidle', { timeout: 3_000 }).catch(() => {})
      expect.soft(await injected(page), address).toEqual([])
      expect.soft(await happened(), address).toEqual([])
    }
  }
})

test('a hostile name of a file, of a query and of an address is a text', async ({ page, workspace }) => {
  const happened = await guard(page)
  for (const payload of PAYLOADS.slice(0, 12)) {
    for (const path of [`/workflows?q=${encodeURIComponent(payload)}`, `/runs?q=${encodeURIComponent(payload)}`]) {
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
