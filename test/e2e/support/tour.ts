import { type Browser, expect, type Page } from '@playwright/test'
import { watch } from './fixture'
import { type Person, signIn, type Workspace } from './workspace'

/** One page shared by many tests of a process, which navigates from screen to screen like a person. */
export interface Tour {
  page: Page
  /** Signs in, unless this person is signed in already. From here on, errors go to `trouble`, the test's own list. */
  begin(workspace: Workspace, trouble: string[]): Promise<void>
}

/** Opened per Playwright worker and closed at its end. */
export async function newTour({ browser }: { browser: Browser }, use: (tour: Tour) => Promise<void>): Promise<void> {
  const context = await browser.newContext({
    baseURL: process.env.BASE_URL ?? '',
    viewport: { width: 1440, height: 900 },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
  })
  context.setDefaultTimeout(20_000)
  context.setDefaultNavigationTimeout(45_000)
  const page = await context.newPage()
  let noted: string[] = []
  const note = { push: (...found: string[]) => noted.push(...found) }
  watch(page, note)
  page.on('response', (response) => {
    if (response.status() >= 500) note.push(`${response.status()} of ${response.url()}`)
  })
  let owner: Person | undefined
  await use({
    page,
    async begin(workspace, trouble) {
      noted = trouble
      if (owner === workspace.owner) return
      owner = workspace.owner
      await signIn(context, owner)
      await page.goto('about:blank')
    },
  })
  await context.close()
}

interface Routed {
  next?: { router?: { push(address: string): void } }
}

/**
 * Navigates inside the workspace with the app's router, like a link: a third of the work of a first load, which
 * `hostile-texts.spec.ts` does for every page. Another view of the current page is loaded as a new address.
 */
export async function go(page: Page, address: string): Promise<void> {
  const { pathname } = new URL(address, process.env.BASE_URL)
  const inside = /^https?:/.test(page.url()) && new URL(page.url()).pathname !== pathname
  if (inside) {
    await page.evaluate((to) => (window as unknown as Routed).next?.router?.push(to), address)
    await page.waitForURL((url) => url.pathname === pathname)
  } else {
    await page.goto(address)
  }
  await expect(page.getByRole('heading', { level: 1 }).first()).toBeVisible()
}
