import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  test as base,
  expect,
  type Page,
} from '@playwright/test'
import type { Role } from '@/server/roles'
import { newPerson, newWorkspace, signIn, type Workspace } from './workspace'

interface Fixtures {
  /** This test's own workspace, in which `page` is signed in as the owner. */
  workspace: Workspace
  /** A second browser, signed in to the same workspace. */
  browserOf: (who: Role | 'owner again' | 'nobody') => Promise<Page>
  /** Errors in any page of the test. A test that provokes one removes it. */
  trouble: string[]
}

export const test = base.extend<Fixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names that a fixture needs
  workspace: async ({}, use) => use(await newWorkspace()),
  trouble: [
    // biome-ignore lint/correctness/noEmptyPattern: as above
    async ({}, use) => {
      const seen: string[] = []
      await use(seen)
      expect(seen, 'errors in the browser').toEqual([])
    },
    { auto: true },
  ],
  page: async ({ page, context, workspace, trouble }, use) => {
    await signIn(context, workspace.owner)
    watch(page, trouble)
    await use(page)
  },
  browserOf: async ({ browser, workspace, trouble, contextOptions }, use) => {
    const opened: BrowserContext[] = []
    await use(async (who) => {
      const context = await newContext(browser, contextOptions)
      opened.push(context)
      if (who !== 'nobody') {
        await signIn(context, who === 'owner again' ? workspace.owner : await newPerson(workspace.ctx, who))
      }
      const page = await context.newPage()
      watch(page, trouble)
      return page
    })
    for (const context of opened) await context.close()
  },
})

function newContext(browser: Browser, options: BrowserContextOptions): Promise<BrowserContext> {
  return browser.newContext({ ...options, baseURL: process.env.BASE_URL ?? '', viewport: { width: 1440, height: 900 } })
}

/**
 * Makes the page wait, after every navigation, until its script has hydrated the server's HTML. Earlier clicks would be
 * lost: a person notices that, a spec does not.
 */
function waitForScripts(page: Page): void {
  const goto = page.goto.bind(page)
  const reload = page.reload.bind(page)
  page.goto = async (url, options) => {
    const response = await goto(url, options)
    if (options?.waitUntil !== 'commit') await hydrated(page)
    return response
  }
  page.reload = async (options) => {
    const response = await reload(options)
    await hydrated(page)
    return response
  }
}

/** React stores its data about an element on the element, under names with these prefixes. */
async function hydrated(page: Page): Promise<void> {
  // Skips elements that libraries add for their own use, such as a hidden copy of a field for measuring.
  const all = () =>
    Array.from(document.querySelectorAll(':is(button, input, select, textarea):not([aria-hidden])')).every((element) =>
      Object.keys(element).some((key) => key.startsWith('__reactProps')),
    )
  // If the page is left or has no script, the spec decides how to react. Without an interval, it would request a frame
  // each time, and the page would draw all of them.
  await page.waitForFunction(all, undefined, { timeout: 30_000, polling: 50 }).catch(() => undefined)
}

/** Waits until the page has no placeholders for loading parts. */
export async function loaded(page: Page): Promise<void> {
  await page.waitForFunction(() => !document.querySelector('.mantine-Skeleton-root'), undefined, { polling: 50 })
}

/**
 * Records what no page may do: throw, violate its content security policy, or render other content than the server.
 * From here on the page also waits for its script.
 */
export function watch(page: Page, trouble: Pick<string[], 'push'>): void {
  waitForScripts(page)
  page.on('pageerror', (error) => trouble.push(`thrown on ${page.url()}: ${error.message}`))
  page.on('console', (message) => {
    const text = message.text()
    if (/content security policy|hydrat|did not match|minified react error/i.test(text)) {
      trouble.push(`said on ${page.url()}: ${text}`)
    }
  })
}

export { expect }
